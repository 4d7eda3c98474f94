/* The UART of Arm's Cortex-M System Design Kit (DDI 0479, "APB UART"). */
#include "bare_metal/parts.h"

#define UART_DATA REGISTER(UART_BASE + 0x00)
#define UART_STATE REGISTER(UART_BASE + 0x04)
#define UART_CONTROL REGISTER(UART_BASE + 0x08)
#define UART_INTERRUPTS REGISTER(UART_BASE + 0x0C)
#define UART_DIVIDER REGISTER(UART_BASE + 0x10)

enum { TRANSMIT_FULL = 1, RECEIVE_FULL = 2 };                       /* UART_STATE */
enum { TRANSMIT_ON = 1, RECEIVE_ON = 2, RECEIVE_INTERRUPT_ON = 8 }; /* UART_CONTROL */
enum { RECEIVE_INTERRUPT = 2 };                                     /* UART_INTERRUPTS */

/* Polls before the core sleeps: bytes of a frame come closer together than this takes. */
enum { POLLS = 200 };

void uart_init(void) {
    UART_DIVIDER = UART_CLOCK_HZ / UART_BAUD;
    UART_CONTROL = TRANSMIT_ON | RECEIVE_ON | RECEIVE_INTERRUPT_ON;
    /* QEMU looks for bytes that were sent before this only after a read. */
    (void)UART_DATA;
    cpu_enable_interrupt(UART_INTERRUPT);
}

int uart_read(void) {
    return UART_STATE & RECEIVE_FULL ? (int)(UART_DATA & 0xFF) : -1;
}

void uart_write(uint8_t byte) {
    while (UART_STATE & TRANSMIT_FULL) {
    }
    UART_DATA = byte;
}

void uart_wait(void) {
    for (int i = 0; i < POLLS; i++)
        if (UART_STATE & RECEIVE_FULL)
            return;
    UART_INTERRUPTS = RECEIVE_INTERRUPT; /* a byte that came until here is full, or polled next */
    if (!(UART_STATE & RECEIVE_FULL))
        cpu_sleep(UART_INTERRUPT);
}
