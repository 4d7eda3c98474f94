/* What bare_metal/port.c is put together from: a CPU family, a UART, a clock and a board. */
#ifndef KILN_PARTS_H
#define KILN_PARTS_H

#include <stddef.h>
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/* <board>/board.c, where there is one: clock tree and pins. Called first. */
void board_init(void);

/* uart/: a byte stream at UART_BASE, UART_BAUD baud, 8 data bits, no parity, 1 stop bit. */
void uart_init(void);
int uart_read(void); /* the next byte, or -1 */
void uart_write(uint8_t byte);
void uart_wait(void); /* returns when a byte may have come */

/* clock/: implements kiln_port_clock and kiln_port_clock_info of port.h. */
void clock_init(void);

/* startup/: the stack lies at [__stack_limit, __stack_top), filled with STACK_FILL at reset. */
#define STACK_FILL 0xA5A5A5A5u
extern uint32_t __stack_limit[], __stack_top[];

/* startup/ or soc/. Interrupts are never taken, but an enabled one ends cpu_sleep, which may
 * also return early. */
void cpu_enable_interrupt(uint32_t number);
void cpu_sleep(uint32_t number);
void cpu_reset(void);

/* Writes "kiln fault: <what> <name>=<hex> ..." again at each byte received; never returns. */
typedef struct fault_value {
    const char *name;
    uintptr_t value;
} fault_value;
void report_fault(const char *what, const fault_value *values, size_t count)
    __attribute__((noreturn));

int main(void);

#endif
