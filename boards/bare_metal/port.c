/* The port of boards without an operating system: port.h on a UART and a clock. */
#include "parts.h"
#include "port.h"

__attribute__((weak)) void board_init(void) {}

void kiln_port_init(void) {
    board_init();
    uart_init();
    clock_init();
}

int kiln_port_read(void) {
    return uart_read();
}

void kiln_port_write(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        uart_write(bytes[i]);
}

void kiln_port_idle(void) {
    uart_wait();
}

uint32_t kiln_port_stack_bytes(void) {
    const volatile uint32_t *at = __stack_limit;
    while (at < __stack_top && *at == STACK_FILL)
        at++;
    return (uint32_t)((uintptr_t)__stack_top - (uintptr_t)at);
}

void kiln_port_reset(void) {
    cpu_reset();
}

static void write_text(const char *text) {
    for (; *text != '\0'; text++)
        uart_write((uint8_t)*text);
}

static void write_hex(uintptr_t value) {
    write_text("0x");
    for (int shift = (int)sizeof(value) * 8 - 4; shift >= 0; shift -= 4)
        uart_write((uint8_t) "0123456789abcdef"[(value >> shift) & 15]);
}

void report_fault(const char *what, const fault_value *values, size_t count) {
    for (;;) {
        write_text("\r\nkiln fault: ");
        write_text(what);
        for (size_t i = 0; i < count; i++) {
            write_text(" ");
            write_text(values[i].name);
            write_text("=");
            write_hex(values[i].value);
        }
        write_text("\r\n");
        while (uart_read() < 0)
            uart_wait();
    }
}
