/* Stand-in firmware for tests of the ports: one-letter commands over the port's byte stream. */
#include "port.h"

/* Ports that send at once have none. */
__attribute__((weak)) void kiln_port_flush(void) {}

static uint32_t data_word = 0x600DDA7A;
static uint32_t bss_word;

static void write_text(const char *text) {
    size_t count = 0;
    while (text[count] != '\0')
        count++;
    kiln_port_write((const uint8_t *)text, count);
}

static void write_number(uint64_t value) {
    uint8_t digits[20];
    size_t first = sizeof(digits);
    do
        digits[--first] = (uint8_t)('0' + value % 10);
    while ((value /= 10) != 0);
    kiln_port_write(digits + first, sizeof(digits) - first);
    write_text(" ");
}

static uint8_t read_byte(void) {
    int byte;
    while ((byte = kiln_port_read()) == -1) {
        kiln_port_flush();
        kiln_port_idle();
    }
    return (uint8_t)byte;
}

static uint32_t read_number(void) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)read_byte() << (8 * i);
    return value;
}

/* 2 instructions a turn on every CPU here, however optimised. */
__attribute__((noinline)) static void spin(uint32_t turns) {
    for (uint32_t i = 0; i < turns; i++)
        __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static uint32_t use_stack(uint32_t depth) {
    volatile uint8_t block[256];
    for (size_t i = 0; i < sizeof(block); i++)
        block[i] = (uint8_t)depth;
    return depth == 0 ? block[7] : use_stack(depth - 1) + block[3];
}

static void clock_command(void) {
    kiln_clock info = kiln_port_clock_info();
    uint32_t turns = read_number();
    uint64_t start = kiln_port_clock();
    spin(turns);
    uint64_t ticks = kiln_port_clock() - start;
    write_number((uint64_t)info.unit);
    write_number(ticks * info.numerator / info.denominator);
    write_text("\n");
}

static void echo_command(void) {
    for (uint32_t left = read_number(); left > 0; left--) {
        uint8_t byte = read_byte();
        kiln_port_write(&byte, 1);
    }
}

int main(void) {
    spin(3000000); /* so that whoever is at the other end speaks first */
    kiln_port_init();
    write_text("hello\n");
    for (;;) {
        switch (read_byte()) {
        case 'd':
            write_number(data_word++);
            write_number(bss_word++);
            write_text("\n");
            break;
        case 'e':
            echo_command();
            break;
        case 'c':
            clock_command();
            break;
        case 's':
            write_number(use_stack(read_number()) & 1);
            write_number(kiln_port_stack_bytes());
            write_text("\n");
            break;
        case 'f':
            *(volatile uint32_t *)(uintptr_t)FAULT_AT = read_number();
            break;
        case 'r':
            kiln_port_reset();
            break;
        default:
            write_text("?\n");
            break;
        }
    }
}
