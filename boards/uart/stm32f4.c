/* The USART of STM32F4 (RM0390, chapter 25). */
#include "bare_metal/parts.h"

#define USART_STATUS REGISTER(UART_BASE + 0x00)
#define USART_DATA REGISTER(UART_BASE + 0x04)
#define USART_BAUD_RATE REGISTER(UART_BASE + 0x08)
#define USART_CONTROL_1 REGISTER(UART_BASE + 0x0C)

enum { RECEIVE_FULL = 1 << 5, TRANSMIT_EMPTY = 1 << 7 }; /* status */
enum {                                                   /* control 1 */
       RECEIVE_ON = 1 << 2,
       TRANSMIT_ON = 1 << 3,
       RECEIVE_INTERRUPT_ON = 1 << 5,
       USART_ON = 1 << 13
};

void uart_init(void) {
    USART_CONTROL_1 = 0;
    USART_BAUD_RATE = (UART_CLOCK_HZ + UART_BAUD / 2) / UART_BAUD;
    USART_CONTROL_1 = USART_ON | TRANSMIT_ON | RECEIVE_ON | RECEIVE_INTERRUPT_ON;
    cpu_enable_interrupt(UART_INTERRUPT);
}

int uart_read(void) {
    return USART_STATUS & RECEIVE_FULL ? (int)(USART_DATA & 0xFF) : -1;
}

void uart_write(uint8_t byte) {
    while (!(USART_STATUS & TRANSMIT_EMPTY)) {
    }
    USART_DATA = byte;
}

void uart_wait(void) {
    if (!(USART_STATUS & RECEIVE_FULL))
        cpu_sleep(UART_INTERRUPT);
}
