/* Cycles of the RP2040: SysTick's 24 bits, extended by the microsecond timer of the same crystal.
 */
#include "bare_metal/parts.h"
#include "port.h"

#define SYSTICK_CONTROL REGISTER(0xE000E010)
#define SYSTICK_RELOAD REGISTER(0xE000E014)
#define SYSTICK_VALUE REGISTER(0xE000E018)
#define TIMER_HIGH REGISTER(0x40054024)
#define TIMER_LOW REGISTER(0x40054028)

enum { COUNTER_ON = 1, CORE_CLOCK = 4, CYCLES_PER_MICROSECOND = CORE_CLOCK_HZ / 1000000 };
#define LARGEST 0xFFFFFFu

static uint64_t start;

static uint64_t microseconds(void) {
    uint32_t high, low;
    do {
        high = TIMER_HIGH;
        low = TIMER_LOW;
    } while (high != TIMER_HIGH);
    return (uint64_t)high << 32 | low;
}

void clock_init(void) {
    SYSTICK_RELOAD = LARGEST;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = CORE_CLOCK | COUNTER_ON;
    start = microseconds();
}

/* The number whose low 24 bits SysTick shows (it counts down) that is nearest to the estimate:
 * the two differ by a few hundred cycles, far less than 2^23. */
uint64_t kiln_port_clock(void) {
    uint32_t low = LARGEST - SYSTICK_VALUE;
    uint64_t estimate = (microseconds() - start) * CYCLES_PER_MICROSECOND;
    int32_t difference = (int32_t)((low - (uint32_t)estimate) << 8) / 256;
    return estimate + (uint64_t)(int64_t)difference;
}

kiln_clock kiln_port_clock_info(void) {
    kiln_clock info = {KILN_CYCLES, 1, 1};
    return info;
}
