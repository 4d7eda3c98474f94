/* Nucleo-F446RE: 180 MHz from the ST-Link's 8 MHz, USART2 on PA2 and PA3 (RM0390, UM1724). */
#include "bare_metal/parts.h"

#define RCC 0x40023800u /* RM0390, 6.3 */
#define CLOCK_CONTROL REGISTER(RCC + 0x00)
#define PLL_CONFIGURATION REGISTER(RCC + 0x04)
#define CLOCK_CONFIGURATION REGISTER(RCC + 0x08)
#define AHB1_ENABLE REGISTER(RCC + 0x30)
#define APB1_ENABLE REGISTER(RCC + 0x40)
enum { EXTERNAL_ON = 1 << 16, EXTERNAL_READY = 1 << 17, EXTERNAL_IS_CLOCK = 1 << 18 };
enum { PLL_ON = 1 << 24, PLL_READY = 1 << 25, PLL_FROM_EXTERNAL = 1 << 22 };
enum { SYSTEM_FROM_PLL = 2, SYSTEM_IS_PLL = 2 << 2, SYSTEM_MASK = 3 << 2 };
enum { APB1_BY_4 = 5 << 10, APB2_BY_2 = 4 << 13 };
enum { GPIO_A = 1 << 0, USART_2 = 1 << 17, POWER = 1 << 28 };

#define POWER_CONTROL REGISTER(0x40007000) /* 5.4 */
#define POWER_STATUS REGISTER(0x40007004)
enum { VOLTAGE_SCALE_1 = 3 << 14, OVERDRIVE_ON = 1 << 16, OVERDRIVE_SWITCH = 1 << 17 };
enum { OVERDRIVE_READY = 1 << 16, OVERDRIVE_SWITCHED = 1 << 17 };

#define FLASH_ACCESS REGISTER(0x40023C00) /* 3.8.1 */
enum { WAIT_STATES = 5, PREFETCH = 1 << 8, INSTRUCTION_CACHE = 1 << 9, DATA_CACHE = 1 << 10 };

#define GPIO_A_MODE REGISTER(0x40020000) /* 7.4 */
#define GPIO_A_PULL REGISTER(0x4002000C)
#define GPIO_A_FUNCTION_LOW REGISTER(0x40020020)
enum { ALTERNATE = 2, PULL_UP = 1, FUNCTION_USART_2 = 7 };

/* Far more turns than the clock of the ST-Link needs to be seen. */
enum { EXTERNAL_TURNS = 200000 };

/* Boards without a clock on OSC_IN fall back to the internal 16 MHz, exact to 1 %. */
static int start_external(void) {
    CLOCK_CONTROL |= EXTERNAL_IS_CLOCK;
    CLOCK_CONTROL |= EXTERNAL_ON;
    for (int i = 0; i < EXTERNAL_TURNS; i++)
        if (CLOCK_CONTROL & EXTERNAL_READY)
            return 1;
    return 0;
}

/* 2 MHz * 180 / 2 = 180 MHz for the core, 45 MHz for APB1, 90 MHz for APB2. */
static void start_pll(void) {
    uint32_t input_divider = start_external() ? 4 | PLL_FROM_EXTERNAL : 8;
    uint32_t multiplier = 180u << 6, usb_divider = 8u << 24, other_divider = 2u << 28;
    PLL_CONFIGURATION = input_divider | multiplier | usb_divider | other_divider;
    CLOCK_CONTROL |= PLL_ON;
    POWER_CONTROL |= OVERDRIVE_ON;
    while (!(POWER_STATUS & OVERDRIVE_READY)) {
    }
    POWER_CONTROL |= OVERDRIVE_SWITCH;
    while (!(POWER_STATUS & OVERDRIVE_SWITCHED)) {
    }
    while (!(CLOCK_CONTROL & PLL_READY)) {
    }
    FLASH_ACCESS = WAIT_STATES | PREFETCH | INSTRUCTION_CACHE | DATA_CACHE;
    CLOCK_CONFIGURATION = APB1_BY_4 | APB2_BY_2 | SYSTEM_FROM_PLL;
    while ((CLOCK_CONFIGURATION & SYSTEM_MASK) != SYSTEM_IS_PLL) {
    }
}

void board_init(void) {
    AHB1_ENABLE |= GPIO_A;
    APB1_ENABLE |= USART_2 | POWER;
    POWER_CONTROL |= VOLTAGE_SCALE_1;
    start_pll();
    GPIO_A_MODE |= ALTERNATE << 2 * 2 | ALTERNATE << 2 * 3;
    GPIO_A_PULL |= PULL_UP << 2 * 3;
    GPIO_A_FUNCTION_LOW |= FUNCTION_USART_2 << 4 * 2 | FUNCTION_USART_2 << 4 * 3;
}
