/* The RP2040 at 125 MHz from a 12 MHz crystal, UART0 on GPIO 0 and 1 (RP2040 Datasheet). */
#include "bare_metal/parts.h"

/* 2.1.2: writes to a register's address + 0x3000 clear bits. */
#define CLEAR 0x3000u

#define RESETS 0x4000C000u /* 2.14.3 */
#define RESET_STATE (RESETS + 0x0)
#define RESET_DONE REGISTER(RESETS + 0x8)
enum { PINS = 1 << 5, PADS = 1 << 8, SYSTEM_PLL = 1 << 12, TIMER = 1 << 21, UART_0 = 1 << 22 };

#define CRYSTAL_CONTROL REGISTER(0x40024000) /* 2.16.7 */
#define CRYSTAL_STATUS REGISTER(0x40024004)
#define CRYSTAL_STARTUP REGISTER(0x4002400C)
enum { RANGE_1_TO_15_MHZ = 0xAA0, CRYSTAL_ON = 0xFAB << 12, STARTUP_256_CYCLES = 47 }; /* 1 ms */

#define REFERENCE_CLOCK REGISTER(0x40008030) /* 2.15.7 */
#define REFERENCE_CLOCK_SELECTED REGISTER(0x40008038)
#define SYSTEM_CLOCK REGISTER(0x4000803C)
#define SYSTEM_CLOCK_SELECTED REGISTER(0x40008044)
#define PERIPHERAL_CLOCK REGISTER(0x40008048)
enum { FROM_REFERENCE = 0, FROM_PLL = 1, FROM_CRYSTAL = 2, PERIPHERAL_CLOCK_ON = 1 << 11 };

#define PLL_CONTROL REGISTER(0x40028000) /* 2.18.4 */
#define PLL_POWER 0x40028004u
#define PLL_MULTIPLIER REGISTER(0x40028008)
#define PLL_DIVIDERS REGISTER(0x4002800C)
enum { PLL_DOWN = 1 << 0, OSCILLATOR_DOWN = 1 << 5, DIVIDERS_DOWN = 1 << 3 };

#define WATCHDOG_TICK REGISTER(0x4005802C) /* 4.7.6; the timer counts these ticks */
enum { TICK_ON = 1 << 9, TICK_CYCLES = 12 };

#define PIN_CONTROL(pin) REGISTER(0x40014004u + 8 * (pin)) /* 2.19.6 */
enum { UART_FUNCTION = 2 };

static void start_blocks(uint32_t blocks) {
    REGISTER(RESET_STATE + CLEAR) = blocks;
    while ((RESET_DONE & blocks) != blocks) {
    }
}

static void start_crystal(void) {
    CRYSTAL_STARTUP = STARTUP_256_CYCLES;
    CRYSTAL_CONTROL = RANGE_1_TO_15_MHZ | CRYSTAL_ON;
    while (!(CRYSTAL_STATUS >> 31)) {
    }
    REFERENCE_CLOCK = FROM_CRYSTAL;
    while (!(REFERENCE_CLOCK_SELECTED & 1 << FROM_CRYSTAL)) {
    }
}

/* 12 MHz * 125 = 1500 MHz, / 6 / 2 = 125 MHz. */
static void start_pll(void) {
    SYSTEM_CLOCK = FROM_REFERENCE;
    while (!(SYSTEM_CLOCK_SELECTED & 1 << FROM_REFERENCE)) {
    }
    start_blocks(SYSTEM_PLL);
    PLL_CONTROL = 1;
    PLL_MULTIPLIER = 125;
    REGISTER(PLL_POWER + CLEAR) = PLL_DOWN | OSCILLATOR_DOWN;
    while (!(PLL_CONTROL >> 31)) {
    }
    PLL_DIVIDERS = 6 << 16 | 2 << 12;
    REGISTER(PLL_POWER + CLEAR) = DIVIDERS_DOWN;
    SYSTEM_CLOCK = FROM_PLL;
    while (!(SYSTEM_CLOCK_SELECTED & 1 << FROM_PLL)) {
    }
}

void board_init(void) {
    start_crystal();
    start_pll();
    PERIPHERAL_CLOCK = PERIPHERAL_CLOCK_ON;
    WATCHDOG_TICK = TICK_ON | TICK_CYCLES;
    start_blocks(PINS | PADS | TIMER | UART_0);
    PIN_CONTROL(0) = UART_FUNCTION;
    PIN_CONTROL(1) = UART_FUNCTION;
}
