/* Bare-metal AArch64 at EL1: memory map with caches on, cleared .bss, fault report. */
#include "bare_metal/parts.h"

extern uint32_t __bss_start[], __bss_end[];
extern uint8_t __ram_end[];

void start_c(void);
void report_exception(uintptr_t stack, uint64_t vector);

#define READ_SYSTEM(name, value) __asm__ volatile("mrs %0, " #name : "=r"(value))
#define WRITE_SYSTEM(name, value) __asm__ volatile("msr " #name ", %0" ::"r"((uint64_t)(value)))

/* Armv8-A Architecture Reference Manual, D5.3 (translation table descriptors, 4 KB granule). */
enum { TABLE = 3, BLOCK = 1, DEVICE = 1 << 2, SHARED = 3 << 8, ACCESSED = 1 << 10 };
#define NEVER_EXECUTE ((uint64_t)3 << 53)
#define NORMAL_BLOCK (BLOCK | SHARED | ACCESSED)
#define DEVICE_BLOCK (BLOCK | DEVICE | ACCESSED | NEVER_EXECUTE)

/* MAIR_EL1: attribute 0 is normal write-back memory, attribute 1 device nGnRE. */
#define MEMORY_ATTRIBUTES 0x04FF
/* TCR_EL1: 32-bit addresses in the lower half only; tables are cached and shared. */
#define TRANSLATION_CONTROL (32 | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23)

enum { MMU_ON = 1, DATA_CACHE_ON = 1 << 2, INSTRUCTION_CACHE_ON = 1 << 12 };

#define BLOCK_BYTES ((uint64_t)2 << 20)

/* One entry per GB, and per 2 MB of the first GB. Not in .bss: in use when that is cleared. */
static uint64_t gigabytes[4] __attribute__((aligned(4096), section(".tables")));
static uint64_t megabytes[512] __attribute__((aligned(4096), section(".tables")));

/* Addresses map to themselves:
 *
 *     0          RAM          __ram_end  devices     2 GB    nothing    3 GB   devices    4 GB
 *     | normal, write-back    | device               | faults           | device          |
 */
static void turn_on_caches(void) {
    for (uint64_t i = 0; i < 512; i++) {
        uint64_t address = i * BLOCK_BYTES;
        int is_ram = address + BLOCK_BYTES <= (uintptr_t)__ram_end;
        megabytes[i] = address | (is_ram ? NORMAL_BLOCK : DEVICE_BLOCK);
    }
    gigabytes[0] = (uintptr_t)megabytes | TABLE;
    gigabytes[1] = (uint64_t)1 << 30 | DEVICE_BLOCK;
    gigabytes[2] = 0;
    gigabytes[3] = (uint64_t)3 << 30 | DEVICE_BLOCK;
    WRITE_SYSTEM(mair_el1, MEMORY_ATTRIBUTES);
    WRITE_SYSTEM(tcr_el1, TRANSLATION_CONTROL);
    WRITE_SYSTEM(ttbr0_el1, (uintptr_t)gigabytes);
    __asm__ volatile("dsb sy\n\ttlbi vmalle1\n\tic iallu\n\tdsb sy\n\tisb" ::: "memory");
    uint64_t control;
    READ_SYSTEM(sctlr_el1, control);
    WRITE_SYSTEM(sctlr_el1, control | MMU_ON | DATA_CACHE_ON | INSTRUCTION_CACHE_ON);
    __asm__ volatile("isb" ::: "memory");
}

void start_c(void) {
    turn_on_caches();
    for (volatile uint32_t *to = __bss_start; to < __bss_end; to++)
        *to = 0;
    main();
    cpu_reset();
}

__attribute__((used)) void report_exception(uintptr_t stack, uint64_t vector) {
    uint64_t syndrome, address, pc;
    READ_SYSTEM(esr_el1, syndrome);
    READ_SYSTEM(far_el1, address);
    READ_SYSTEM(elr_el1, pc);
    fault_value values[] = {
        {"sp", stack}, {"pc", pc}, {"esr", syndrome}, {"address", address}, {"vector", vector},
    };
    report_fault("exception", values, sizeof(values) / sizeof(values[0]));
}
