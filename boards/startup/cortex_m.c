/* Vector table, reset and fault handlers of Cortex-M0+, M3, M4, M7 and M33. */
#include "bare_metal/parts.h"

extern uint32_t __data_load[], __data_start[], __data_end[], __bss_start[], __bss_end[];

#define VECTOR_TABLE_OFFSET REGISTER(0xE000ED08)
#define RESET_CONTROL REGISTER(0xE000ED0C)
#define CONFIGURABLE_FAULTS REGISTER(0xE000ED28)
#define FAULT_ADDRESS REGISTER(0xE000ED38)
#define NVIC_ENABLE(number) REGISTER(0xE000E100 + (number) / 32 * 4)
#define NVIC_CLEAR_PENDING(number) REGISTER(0xE000E280 + (number) / 32 * 4)
#define COPROCESSOR_ACCESS REGISTER(0xE000ED88)

void _start(void);
void start_c(void);
void fault_handler(void);
void report_exception(const uint32_t *frame, uint32_t number);
void SysTick_Handler(void) __attribute__((weak, alias("fault_handler")));

/* Armv7-M Architecture Reference Manual, B1.5.3: initial stack pointer, then exceptions 1..15.
 * No external interrupt is ever taken: drivers leave them masked and only wake by them. */
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)__stack_top,
    _start,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    fault_handler,
    SysTick_Handler,
};

/* Also the entry for debuggers and boot loaders, which do not all set the stack pointer. */
__attribute__((naked)) void _start(void) {
    __asm__ volatile(".syntax unified\n\t"
                     "ldr r0, =__stack_top\n\t"
                     "msr msp, r0\n\t"
                     "bl start_c\n\t"
                     ".ltorg");
}

/* The stack up to here holds nothing but this function's frame. */
__attribute__((always_inline)) static inline void paint_stack(void) {
    uint32_t *end = (uint32_t *)__builtin_frame_address(0) - 64;
    for (volatile uint32_t *at = __stack_limit; at < end; at++)
        *at = STACK_FILL;
}

__attribute__((used)) void start_c(void) {
    VECTOR_TABLE_OFFSET = (uint32_t)(uintptr_t)vectors;
#if defined(__ARM_FP)
    COPROCESSOR_ACCESS |= 0xFu << 20; /* full access to the floating-point unit */
    __asm__ volatile("dsb\n\tisb");
#endif
    paint_stack();
    const volatile uint32_t *from = __data_load;
    for (volatile uint32_t *to = __data_start; to < __data_end; to++)
        *to = *from++;
    for (volatile uint32_t *to = __bss_start; to < __bss_end; to++)
        *to = 0;
    main();
    cpu_reset();
    for (;;) {
    }
}

/* Masked, a pending interrupt is not taken but still ends WFI (B1.5.18). */
void cpu_enable_interrupt(uint32_t number) {
    __asm__ volatile("cpsid i");
    NVIC_ENABLE(number) = 1u << number % 32;
}

void cpu_sleep(uint32_t number) {
    __asm__ volatile("dsb\n\twfi" ::: "memory");
    NVIC_CLEAR_PENDING(number) = 1u << number % 32;
}

void cpu_reset(void) {
    __asm__ volatile("dsb");
    RESET_CONTROL = 0x05FA0004;
    __asm__ volatile("dsb");
}

/* The stack may be what went wrong, and the UART's interrupt cannot end WFI in a fault handler:
 * returns into report_exception in thread mode, by a frame made up at the top of the stack
 * (B1.5.6: r0-r3, r12, lr, pc, xPSR), with the arguments (faulting stack pointer, exception). */
__attribute__((naked)) void fault_handler(void) {
    __asm__ volatile(".syntax unified\n\t"
                     "mov r0, sp\n\t"
                     "mrs r1, ipsr\n\t"
                     "ldr r2, =__stack_top\n\t"
                     "subs r2, #32\n\t"
                     "msr msp, r2\n\t"
                     "str r0, [r2, #0]\n\t"
                     "str r1, [r2, #4]\n\t"
                     "ldr r3, =report_exception\n\t"
                     "lsrs r3, r3, #1\n\t"
                     "lsls r3, r3, #1\n\t"
                     "str r3, [r2, #24]\n\t"
                     "ldr r3, =0x01000000\n\t" /* xPSR: Thumb */
                     "str r3, [r2, #28]\n\t"
                     "ldr r3, =0xFFFFFFF9\n\t" /* to thread mode, main stack, no FP state */
                     "bx r3\n\t"
                     ".ltorg");
}

__attribute__((used)) void report_exception(const uint32_t *frame, uint32_t number) {
    static const char *const names[] = {"HardFault", "MemManage", "BusFault", "UsageFault"};
    const char *what = number == 2 ? "NMI" : "unexpected exception";
    if (number >= 3 && number <= 6)
        what = names[number - 3];
    int is_stack = frame >= __stack_limit && frame + 8 <= __stack_top;
    fault_value values[] = {
        {"sp", (uintptr_t)frame},
        {"pc", is_stack ? frame[6] : 0},
        {"lr", is_stack ? frame[5] : 0},
#if __ARM_ARCH >= 7
        {"cfsr", CONFIGURABLE_FAULTS},
        {"address", FAULT_ADDRESS},
#endif
    };
    report_fault(is_stack ? what : "stack overflow", values, sizeof(values) / sizeof(values[0]));
}
