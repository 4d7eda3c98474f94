/* The inner loop of 3x3 depthwise convolutions: a row of outputs of one channel. */
#ifndef CORTEX_M_ROW_3X3_H
#define CORTEX_M_ROW_3X3_H

#include "cortex_m/kernels/requantize.h"

#if CORTEX_M_DSP

/* A row's taps (0 1) in r4 and (1 2) in r5, from two or, with stride 2, three pairs of elements. */
#define CORTEX_M_STRIDE_1(row, taps, dot, high_low, first, second)                                 \
    "ldrd r2, r3, [%[" row "]], #4\n\t"                                                            \
    "ldrd r4, r5, [%[record], #" taps "]\n\t" dot " %[first], r2, r4" first "\n\t" high_low        \
    " %[second], r2, r4" second "\n\t"                                                             \
    "smlabt %[first], r3, r5, %[first]\n\t"                                                        \
    "smlad %[second], r3, r5, %[second]\n\t"
#define CORTEX_M_STRIDE_2(row, taps, dot, high_low, first, second)                                 \
    "ldrd r2, r3, [%[" row "]], #8\n\t"                                                            \
    "ldrd r4, r5, [%[record], #" taps "]\n\t" dot " %[first], r2, r4" first "\n\t" dot             \
    " %[second], r3, r4" second "\n\t"                                                             \
    "ldr r2, [%[" row "]]\n\t"                                                                     \
    "smlabt %[first], r3, r5, %[first]\n\t"                                                        \
    "smlabt %[second], r2, r5, %[second]\n\t"
#define CORTEX_M_REQUANTIZE(value)                                                                 \
    "add " value ", r2, " value ", lsl #1\n\t"                                                     \
    "smmulr " value ", " value ", r3\n\t"                                                          \
    "add " value ", " value ", " value ", asr #31\n\t"                                             \
    "add " value ", " value ", r5\n\t"                                                             \
    "asr " value ", " value ", r4\n\t"                                                             \
    "ssat " value ", #8, " value ", asr #1\n\t"
/* Two outputs at a time; the last one only where it exists. */
#define CORTEX_M_ROW(row)                                                                          \
    __asm__ volatile(                                                                              \
        "1:\n\t" row("row0", "0", "smuad", "smultb", "", "") row("row1", "8", "smlad", "smlatb",   \
                                                                 ", %[first]", ", %[second]")      \
            row("row2", "16", "smlad", "smlatb", ", %[first]",                                     \
                ", %[second]") "ldrd r2, r3, [%[record], #24]\n\t"                                 \
                               "ldrd r4, r5, [%[record], #32]\n\t" CORTEX_M_REQUANTIZE("%[first]") \
                                   CORTEX_M_REQUANTIZE(                                            \
                                       "%[second]") "subs %[width], %[width], #2\n\t"              \
                                                    "strb %[first], [%[to]]\n\t"                   \
                                                    "it pl\n\t"                                    \
                                                    "strbpl %[second], [%[to], %[pitch]]\n\t"      \
                                                    "add %[to], %[to], %[pitch], lsl #1\n\t"       \
                                                    "bgt 1b"                                       \
        : [row0] "+r"(row0), [row1] "+r"(row1), [row2] "+r"(row2), [width] "+r"(width),            \
          [to] "+r"(output), [first] "=&r"(first), [second] "=&r"(second), [record] "+r"(record),  \
          [pitch] "+r"(pitch)                                                                      \
        :                                                                                          \
        : "r2", "r3", "r4", "r5", "cc", "memory")

/* `record` has the taps and then the constants, in CORTEX_M_DOUBLE; outputs lie `pitch` apart. */
KILN_INLINE void cortex_m_row_3x3(int32_t stride, const int16_t *const *rows, const int16_t *record,
                                  int32_t width, int8_t *output, int32_t pitch) {
    const int16_t *row0 = rows[0], *row1 = rows[1], *row2 = rows[2];
    int32_t first, second;
    if (stride == 1)
        CORTEX_M_ROW(CORTEX_M_STRIDE_1);
    else
        CORTEX_M_ROW(CORTEX_M_STRIDE_2);
}

#undef CORTEX_M_ROW
#undef CORTEX_M_REQUANTIZE
#undef CORTEX_M_STRIDE_1
#undef CORTEX_M_STRIDE_2

#else

KILN_INLINE void cortex_m_row_3x3(int32_t stride, const int16_t *const *rows, const int16_t *record,
                                  int32_t width, int8_t *output, int32_t pitch) {
    struct cortex_m_channel channel;
    memcpy(&channel, record + 12, sizeof channel);
    CORTEX_M_NO_UNROLL
    for (int32_t x = 0; x < width; x++, output += pitch) {
        int32_t sum = 0;
        for (int32_t ky = 0; ky < 3; ky++) {
            const int16_t *row = rows[ky] + x * stride, *taps = record + 4 * ky;
            sum += row[0] * taps[0] + row[1] * taps[1] + row[2] * taps[3];
        }
        output[0] = cortex_m_requantize(CORTEX_M_DOUBLE, 0, channel, sum, 1, 0, 0);
    }
}

#endif

#endif
