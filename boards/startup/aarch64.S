/* Entry of bare-metal AArch64: the first core goes on at EL1, the others sleep for good. */

/* Where the boot code of the Raspberry Pi lets cores 1 to 3 wait for an address, 8 bytes each. */
#define SPIN_TABLE 0xE0

    .section .boot, "ax"
    .global _start
_start:
    mrs x0, mpidr_el1
    tst x0, #3
    b.ne park
    mrs x0, CurrentEL
    cmp x0, #(2 << 2)
    b.lo at_el1
    b.eq at_el2

    /* EL3. SCR_EL3: EL2 is 64-bit, non-secure, may call hypervisor; no secure monitor. */
    mov x0, #0x5B1
    msr scr_el3, x0
    msr cptr_el3, xzr
    ldr x0, =0x30C50830 /* SCTLR_EL2: all off, bits that must be 1 */
    msr sctlr_el2, x0
    mov x0, #0x3C9 /* EL2 with its own stack pointer, all interrupts masked */
    msr spsr_el3, x0
    adr x0, at_el2
    msr elr_el3, x0
    eret

at_el2:
    mov x0, #(1 << 31) /* HCR_EL2: EL1 is 64-bit, nothing is trapped */
    msr hcr_el2, x0
    mov x0, #0x33FF /* CPTR_EL2: floating point is not trapped */
    msr cptr_el2, x0
    mov x0, #3 /* CNTHCTL_EL2: EL1 may read the counter and set the timer */
    msr cnthctl_el2, x0
    msr cntvoff_el2, xzr
    mrs x0, pmcr_el0
    ubfx x0, x0, #11, #5 /* MDCR_EL2: EL1 has every event counter */
    msr mdcr_el2, x0
    ldr x0, =0x30D00800 /* SCTLR_EL1: all off, bits that must be 1 */
    msr sctlr_el1, x0
    mov x0, #0x3C5 /* EL1 with its own stack pointer, all interrupts masked */
    msr spsr_el2, x0
    adr x0, at_el1
    msr elr_el2, x0
    eret

at_el1:
    mov x0, #(3 << 20) /* CPACR_EL1: floating point and NEON on */
    msr cpacr_el1, x0
    adr x0, park
    mov x1, #SPIN_TABLE
    stp x0, x0, [x1]
    str x0, [x1, #16]
    dsb sy
    sev
    ldr x0, =vectors
    msr vbar_el1, x0
    isb
    ldr x0, =__stack_limit
    ldr x1, =__stack_top
    mov sp, x1
    ldr w2, =0xA5A5A5A5 /* STACK_FILL */
1:  str w2, [x0], #4
    cmp x0, x1
    b.lo 1b
    bl start_c

park:
    wfi
    b park

/* 16 entries of 128 bytes; every exception is reported as a fault, on a fresh stack. */
    .section .text.vectors, "ax"
    .balign 2048
vectors:
    .set index, 0
    .rept 16
    .balign 128
    mov x1, #index
    b exception
    .set index, index + 1
    .endr

exception:
    mov x0, sp
    ldr x2, =__stack_top
    mov sp, x2
    b report_exception
