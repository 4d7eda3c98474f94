/* The 25 MHz counter of MPS2's FPGAIO block, as the emulator runs it: a count of instructions.
 *
 * QEMU with `-icount shift=6` lets each instruction take 64 ns, and a tick takes 40 ns: after n
 * instructions the counter holds floor((64 n + phase) / 40). Sleep shifts the phase by any amount,
 * so that one reading is uncertain by an instruction. Five readings, an instruction apart, see
 * all the five phases that there are, 8 ns apart, and their sum is 8 n + a constant (Hermite's
 * identity): the difference of two such sums is exact. */
#include "bare_metal/parts.h"
#include "port.h"

#define FPGAIO_COUNTER (FPGAIO_BASE + 0x18)

static uint32_t last, wraps;

void clock_init(void) {
    last = REGISTER(FPGAIO_COUNTER);
}

/* Must be called at least once in 2^32 ticks, which are 172 seconds of guest time. */
uint64_t kiln_port_clock(void) {
    uint32_t first, second, third, fourth, fifth;
    __asm__ volatile("ldr %0, [%5]\n\t"
                     "ldr %1, [%5]\n\t"
                     "ldr %2, [%5]\n\t"
                     "ldr %3, [%5]\n\t"
                     "ldr %4, [%5]"
                     : "=&r"(first), "=&r"(second), "=&r"(third), "=&r"(fourth), "=&r"(fifth)
                     : "r"(FPGAIO_COUNTER));
    wraps += first < last;
    last = first;
    uint64_t sum = ((uint64_t)wraps << 32 | first) * 5;
    sum += (second - first) + (third - first) + (fourth - first) + (fifth - first);
    return sum / 8;
}

kiln_clock kiln_port_clock_info(void) {
    kiln_clock info = {KILN_INSTRUCTIONS, 1, 1};
    return info;
}
