/* The Raspberry Pi's BCM2837 and BCM2711: UART pins, the UART's interrupt, restart. */
#include "bare_metal/parts.h"

#define GPIO_FUNCTION_1 REGISTER(PERIPHERALS + 0x200004)
#define WATCHDOG REGISTER(PERIPHERALS + 0x100024)
#define WATCHDOG_CONTROL REGISTER(PERIPHERALS + 0x10001C)
#define INTERRUPT_ENABLE(number) REGISTER(PERIPHERALS + 0xB210 + (number) / 32 * 4)

/* BCM2837 ARM Peripherals, 6.1: 3 bits a pin; pins 14 and 15 get function 0, TXD0 and RXD0. */
enum { PIN_14 = 12, PIN_15 = 15, FUNCTION_0 = 4, FUNCTION_MASK = 7 };
#define PASSWORD 0x5A000000u
enum { FULL_RESET = 0x20 };

void board_init(void) {
    uint32_t functions = GPIO_FUNCTION_1;
    functions &= ~((uint32_t)FUNCTION_MASK << PIN_14 | (uint32_t)FUNCTION_MASK << PIN_15);
    GPIO_FUNCTION_1 = functions | FUNCTION_0 << PIN_14 | FUNCTION_0 << PIN_15;
}

/* Where interrupts go through a GIC that the boot code may leave in any state (BCM2711), the
 * board polls. */
void cpu_enable_interrupt(uint32_t number) {
#if !HAS_GIC
    INTERRUPT_ENABLE(number) = 1u << number % 32;
#else
    (void)number;
#endif
}

void cpu_sleep(uint32_t number) {
    (void)number;
#if !HAS_GIC
    __asm__ volatile("dsb sy\n\twfi" ::: "memory");
#else
    __asm__ volatile("yield");
#endif
}

void cpu_reset(void) {
    WATCHDOG = PASSWORD | 1;
    WATCHDOG_CONTROL = PASSWORD | FULL_RESET;
    for (;;)
        __asm__ volatile("wfi");
}
