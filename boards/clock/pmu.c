/* AArch64's performance monitors: cycles, or on an emulator the instructions it counts exactly. */
#include "bare_metal/parts.h"
#include "port.h"

#define READ_SYSTEM(name, value) __asm__ volatile("isb\n\tmrs %0, " #name : "=r"(value))
#define WRITE_SYSTEM(name, value) __asm__ volatile("msr " #name ", %0" ::"r"((uint64_t)(value)))

/* Numbers of events (Armv8-A Architecture Reference Manual, D7.11.3), bits of PMCEID0_EL0. */
enum { L1_DATA_CACHE = 0x04, INSTRUCTION_RETIRED = 0x08 };
enum { ENABLE = 1, LONG_CYCLES = 1 << 6 }; /* PMCR_EL0 */
#define COUNTER_0 1u
#define CYCLE_COUNTER (1u << 31)

static int counts_instructions;
static uint32_t last, wraps;

/* A processor that cannot count its cache accesses has no cache: QEMU, whose cycles would only
 * be instructions under another name. With `-icount` it counts those. */
static int is_emulated(void) {
    uint64_t events;
    READ_SYSTEM(pmceid0_el0, events);
    return !(events >> L1_DATA_CACHE & 1) && (events >> INSTRUCTION_RETIRED & 1);
}

void clock_init(void) {
    uint64_t control;
    counts_instructions = is_emulated();
    READ_SYSTEM(pmcr_el0, control);
    WRITE_SYSTEM(pmcr_el0, control | ENABLE | LONG_CYCLES);
    WRITE_SYSTEM(pmevtyper0_el0, INSTRUCTION_RETIRED);
    WRITE_SYSTEM(pmccfiltr_el0, 0);
    WRITE_SYSTEM(pmcntenset_el0, COUNTER_0 | CYCLE_COUNTER);
    __asm__ volatile("isb");
}

/* The event counter has 32 bits: must be called at least once in 2^32 instructions. */
uint64_t kiln_port_clock(void) {
    uint64_t now;
    if (!counts_instructions) {
        READ_SYSTEM(pmccntr_el0, now);
        return now;
    }
    READ_SYSTEM(pmevcntr0_el0, now);
    wraps += (uint32_t)now < last;
    last = (uint32_t)now;
    return (uint64_t)wraps << 32 | last;
}

kiln_clock kiln_port_clock_info(void) {
    kiln_clock info = {counts_instructions ? KILN_INSTRUCTIONS : KILN_CYCLES, 1, 1};
    return info;
}
