/* The 25 MHz counter of MPS2's FPGAIO block, as the emulator runs it: a count of instructions.
 *
 * QEMU with `-icount shift=6` lets each instruction take 2^6 ns and a tick takes 40 ns. After n
 * instructions the counter holds floor(n * 64 / 40), and n is exactly ceil(counter * 40 / 64). */
#include "bare_metal/parts.h"
#include "port.h"

#define FPGAIO_COUNTER REGISTER(FPGAIO_BASE + 0x18)

static uint32_t last, wraps;

void clock_init(void) {
    last = FPGAIO_COUNTER;
}

/* Must be called at least once in 2^32 ticks, which are 172 seconds of guest time. */
uint64_t kiln_port_clock(void) {
    uint32_t now = FPGAIO_COUNTER;
    wraps += now < last;
    last = now;
    return (((uint64_t)wraps << 32 | now) * 5 + 7) / 8;
}

kiln_clock kiln_port_clock_info(void) {
    kiln_clock info = {KILN_INSTRUCTIONS, 1, 1};
    return info;
}
