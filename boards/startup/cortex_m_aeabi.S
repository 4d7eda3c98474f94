/* The memory functions under the names that Clang calls on 32-bit Arm (Run-time ABI, 4.3.4).
 *
 * Not in C, where Clang would call memcpy by that name as well: the function itself. The 4 and 8
 * are alignments that the caller promises. */
    .syntax unified
    .thumb

    .macro function name
    .weak \name, \name\()4, \name\()8
    .thumb_func
\name:
    .thumb_func
\name\()4:
    .thumb_func
\name\()8:
    .endm

    .macro jump target
    ldr r3, =\target
    bx r3
    .ltorg
    .endm

    .section .text.aeabi_memcpy, "ax"
    function __aeabi_memcpy
    jump memcpy

    .section .text.aeabi_memmove, "ax"
    function __aeabi_memmove
    jump memmove

    /* (to, count, value) becomes (to, value, count). */
    .section .text.aeabi_memset, "ax"
    function __aeabi_memset
    mov r3, r1
    mov r1, r2
    mov r2, r3
    jump memset

    /* (to, count) becomes (to, 0, count). */
    .section .text.aeabi_memclr, "ax"
    function __aeabi_memclr
    mov r2, r1
    movs r1, #0
    jump memset
