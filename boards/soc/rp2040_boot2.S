/* What the RP2040's boot ROM copies from the start of flash and runs: maps the flash, goes on.
 *
 *     0        code and constants        252    CRC-32     256  vector table
 *
 * Any flash chip knows the serial read command 03h; at 125 MHz / 4 it is within its limits. */
    .syntax unified
    .thumb
    .section .boot2, "ax"

/* RP2040 Datasheet, 4.10.13: registers of the flash interface (SSI). */
#define SSI 0x18000000
#define CONTROL_0 0x00
#define CONTROL_1 0x04
#define ENABLE 0x08
#define DIVIDER 0x14
#define SPI_CONTROL 0xF4

/* 32-bit frames in EEPROM read mode; command 03h of 8 bits, then 24 address bits. */
#define READ_FRAMES (31 << 16 | 3 << 8)
#define READ_COMMAND (0x03 << 24 | 2 << 8 | 6 << 2)

boot2:
    ldr r3, ssi
    movs r0, #0
    str r0, [r3, #ENABLE]
    str r0, [r3, #CONTROL_1]
    movs r0, #4
    str r0, [r3, #DIVIDER]
    ldr r0, read_frames
    str r0, [r3, #CONTROL_0]
    ldr r0, read_command
    ldr r1, spi_control
    str r0, [r1]
    movs r0, #1
    str r0, [r3, #ENABLE]

    ldr r0, vector_table
    ldr r1, vector_table_offset
    str r0, [r1]
    ldmia r0!, {r1, r2}
    msr msp, r1
    bx r2

    .balign 4
ssi:
    .word SSI
spi_control:
    .word SSI + SPI_CONTROL
read_frames:
    .word READ_FRAMES
read_command:
    .word READ_COMMAND
vector_table:
    .word 0x10000100
vector_table_offset:
    .word 0xE000ED08

    .org 252
    .word 0 /* the CRC, filled in after linking */
