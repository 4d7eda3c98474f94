/* Arm's PL011 UART (DDI 0183), with its FIFOs on. */
#include "bare_metal/parts.h"

#define UART_DATA REGISTER(UART_BASE + 0x00)
#define UART_FLAGS REGISTER(UART_BASE + 0x18)
#define UART_DIVIDER REGISTER(UART_BASE + 0x24)
#define UART_DIVIDER_FRACTION REGISTER(UART_BASE + 0x28)
#define UART_LINE REGISTER(UART_BASE + 0x2C)
#define UART_CONTROL REGISTER(UART_BASE + 0x30)
#define UART_INTERRUPT_MASK REGISTER(UART_BASE + 0x38)
#define UART_INTERRUPT_CLEAR REGISTER(UART_BASE + 0x44)

enum { TRANSMIT_BUSY = 1 << 3, RECEIVE_EMPTY = 1 << 4, TRANSMIT_FULL = 1 << 5 }; /* flags */
enum { FIFOS_ON = 1 << 4, EIGHT_BITS = 3 << 5 };                                 /* line */
enum { UART_ON = 1, TRANSMIT_ON = 1 << 8, RECEIVE_ON = 1 << 9 };                 /* control */
enum { RECEIVE_LEVEL = 1 << 4, RECEIVE_TIMEOUT = 1 << 6, ALL = 0x7FF };          /* interrupts */

/* Polls before the core sleeps: bytes of a frame come closer together than this takes. */
enum { POLLS = 200 };

void uart_init(void) {
    while (UART_FLAGS & TRANSMIT_BUSY) {
    }
    UART_CONTROL = 0;
    /* In 64ths, rounded: clock / (16 * baud). */
    uint32_t divider = (UART_CLOCK_HZ * 8 / UART_BAUD + 1) / 2;
    UART_DIVIDER = divider / 64;
    UART_DIVIDER_FRACTION = divider % 64;
    UART_LINE = FIFOS_ON | EIGHT_BITS;
    UART_INTERRUPT_CLEAR = ALL;
    UART_INTERRUPT_MASK = RECEIVE_LEVEL | RECEIVE_TIMEOUT;
    UART_CONTROL = UART_ON | TRANSMIT_ON | RECEIVE_ON;
    /* QEMU looks for bytes that were sent before this only after a read. */
    (void)UART_DATA;
    cpu_enable_interrupt(UART_INTERRUPT);
}

int uart_read(void) {
    return UART_FLAGS & RECEIVE_EMPTY ? -1 : (int)(UART_DATA & 0xFF);
}

void uart_write(uint8_t byte) {
    while (UART_FLAGS & TRANSMIT_FULL) {
    }
    UART_DATA = byte;
}

void uart_wait(void) {
    for (int i = 0; i < POLLS; i++)
        if (!(UART_FLAGS & RECEIVE_EMPTY))
            return;
    cpu_sleep(UART_INTERRUPT);
}
