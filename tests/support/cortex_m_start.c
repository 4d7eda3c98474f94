/* Start-up of a test program on QEMU's MPS2 boards: vectors, FPU, then newlib's _start. */
#include <stdint.h>

extern void _start(void);

static void reset(void) {
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: full access to the FPU */
    __asm__ volatile("dsb\nisb");
#endif
    _start();
}

/* Semihosting SYS_EXIT with a reason that is not a normal exit: QEMU ends with status 1. */
static void fault(void) {
    __asm__ volatile("movs r0, #0x18\nldr r1, =0x20024\nbkpt 0xab");
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16] = {
    0x20400000u,      (uintptr_t)reset, (uintptr_t)fault, (uintptr_t)fault,
    (uintptr_t)fault, (uintptr_t)fault, (uintptr_t)fault};
