/* The cycle counter of Armv7-M's data watchpoint and trace unit (B3, C1.8). */
#include "bare_metal/parts.h"
#include "port.h"

#define DEBUG_CONTROL REGISTER(0xE000EDFC)
#define DWT_CONTROL REGISTER(0xE0001000)
#define DWT_CYCLES REGISTER(0xE0001004)

enum { TRACE_ON = 1 << 24, CYCLES_ON = 1 };

static uint32_t last, wraps;

void clock_init(void) {
    DEBUG_CONTROL |= TRACE_ON;
    DWT_CYCLES = 0;
    DWT_CONTROL |= CYCLES_ON;
}

/* Must be called at least once in 2^32 cycles. */
uint64_t kiln_port_clock(void) {
    uint32_t now = DWT_CYCLES;
    wraps += now < last;
    last = now;
    return (uint64_t)wraps << 32 | now;
}

kiln_clock kiln_port_clock_info(void) {
    kiln_clock info = {KILN_CYCLES, 1, 1};
    return info;
}
