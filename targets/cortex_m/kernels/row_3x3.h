/* The inner loops of 3x3 depthwise convolutions: a row of outputs of several channels. */
#ifndef CORTEX_M_ROW_3X3_H
#define CORTEX_M_ROW_3X3_H

#include "cortex_m/kernels/requantize.h"

/* What the channels of a row need, one after another in scratch. */
struct cortex_m_record_3x3 {
    int16_t taps[3][4]; /* 0 1 | 1 2 */
    struct cortex_m_channel channel;
    int32_t width;    /* outputs of this channel */
    int32_t row_step; /* bytes from the end of its rows to the next channel's */
    int32_t output_step;
    int32_t next_width; /* 0 behind the last channel */
};

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
#define CORTEX_M_DOUBLE_ROUNDING(value)                                                            \
    "add " value ", r2, " value ", lsl #1\n\t"                                                     \
    "smmulr " value ", " value ", r3\n\t"                                                          \
    "add " value ", " value ", " value ", asr #31\n\t"                                             \
    "add " value ", " value ", r5\n\t"                                                             \
    "asr " value ", " value ", r4\n\t"                                                             \
    "ssat " value ", #8, " value ", asr #1\n\t"
#define CORTEX_M_FLOAT_ROUNDING(value)                                                             \
    "add " value ", r2, " value ", lsl #1\n\t"                                                     \
    "vmov s14, " value "\n\t"                                                                      \
    "vmov s15, r3\n\t"                                                                             \
    "vcvt.f32.s32 s14, s14\n\t"                                                                    \
    "vmul.f32 s14, s14, s15\n\t"                                                                   \
    "vcvtr.s32.f32 s14, s14\n\t"                                                                   \
    "vmov " value ", s14\n\t"                                                                      \
    "add " value ", " value ", r5\n\t"                                                             \
    "ssat " value ", #8, " value "\n\t"
/* Two outputs at a time; the last one only where it exists. */
#define CORTEX_M_ROWS(row, rounding, ...)                                                          \
    __asm__ volatile(                                                                              \
        "1:\n\t" row("row0", "0", "smuad", "smultb", "", "") row("row1", "8", "smlad", "smlatb",   \
                                                                 ", %[first]", ", %[second]")      \
            row("row2", "16", "smlad", "smlatb", ", %[first]",                                     \
                ", %[second]") "ldrd r2, r3, [%[record], #24]\n\t"                                 \
                               "ldrd r4, r5, [%[record], #32]\n\t" rounding("%[first]")            \
                                   rounding("%[second]") "subs %[width], %[width], #2\n\t"         \
                                                         "strb %[first], [%[to]]\n\t"              \
                                                         "it pl\n\t"                               \
                                                         "strbpl %[second], [%[to], %[pitch]]\n\t" \
                                                         "add %[to], %[to], %[pitch], lsl #1\n\t"  \
                                                         "bgt 1b\n\t"                              \
                                                         "ldrd r2, r3, [%[record], #44]\n\t"       \
                                                         "ldr %[width], [%[record], #52]\n\t"      \
                                                         "add %[record], %[record], #56\n\t"       \
                                                         "add %[row0], %[row0], r2\n\t"            \
                                                         "add %[row1], %[row1], r2\n\t"            \
                                                         "add %[row2], %[row2], r2\n\t"            \
                                                         "add %[to], %[to], r3\n\t"                \
                                                         "cmp %[width], #0\n\t"                    \
                                                         "bne 1b"                                  \
        : [row0] "+r"(row0), [row1] "+r"(row1), [row2] "+r"(row2), [width] "+r"(width),            \
          [to] "+r"(output), [first] "=&r"(first), [second] "=&r"(second), [record] "+r"(record),  \
          [pitch] "+r"(pitch)                                                                      \
        :                                                                                          \
        : "r2", "r3", "r4", "r5", "cc", "memory" __VA_ARGS__)
#define CORTEX_M_COMMA ,

/* All channels of a row of outputs; a pixel's outputs lie `pitch` apart from the next one's. */
KILN_INLINE void cortex_m_row_3x3(int32_t stride, int32_t mode, const int16_t *const *rows,
                                  const struct cortex_m_record_3x3 *record, int8_t *output,
                                  int32_t pitch) {
    const int16_t *row0 = rows[0], *row1 = rows[1], *row2 = rows[2];
    int32_t first, second, width = record->width;
    if (mode == CORTEX_M_DOUBLE && stride == 1)
        CORTEX_M_ROWS(CORTEX_M_STRIDE_1, CORTEX_M_DOUBLE_ROUNDING, );
    else if (mode == CORTEX_M_DOUBLE)
        CORTEX_M_ROWS(CORTEX_M_STRIDE_2, CORTEX_M_DOUBLE_ROUNDING, );
#if defined(__ARM_FP)
    else if (stride == 1)
        CORTEX_M_ROWS(CORTEX_M_STRIDE_1, CORTEX_M_FLOAT_ROUNDING, CORTEX_M_COMMA "s14", "s15");
    else
        CORTEX_M_ROWS(CORTEX_M_STRIDE_2, CORTEX_M_FLOAT_ROUNDING, CORTEX_M_COMMA "s14", "s15");
#endif
}

#undef CORTEX_M_COMMA
#undef CORTEX_M_ROWS
#undef CORTEX_M_FLOAT_ROUNDING
#undef CORTEX_M_DOUBLE_ROUNDING
#undef CORTEX_M_STRIDE_1
#undef CORTEX_M_STRIDE_2

#else

KILN_INLINE void cortex_m_row_3x3(int32_t stride, int32_t mode, const int16_t *const *rows,
                                  const struct cortex_m_record_3x3 *record, int8_t *output,
                                  int32_t pitch) {
    const int16_t *row0 = rows[0], *row1 = rows[1], *row2 = rows[2];
    for (int32_t width = record->width; width > 0; width = record++->next_width) {
        const int16_t(*taps)[4] = record->taps;
        const struct cortex_m_channel channel = record->channel;
        CORTEX_M_NO_UNROLL
        for (int32_t x = 0; x < width; x++, output += pitch) {
            const int32_t sum = row0[0] * taps[0][0] + row0[1] * taps[0][1] + row0[2] * taps[0][3] +
                                row1[0] * taps[1][0] + row1[1] * taps[1][1] + row1[2] * taps[1][3] +
                                row2[0] * taps[2][0] + row2[1] * taps[2][1] + row2[2] * taps[2][3];
            output[0] = cortex_m_requantize(mode, 0, channel, sum, 1, 0, 0);
            row0 += stride, row1 += stride, row2 += stride;
        }
        if (width % 2 != 0) /* the steps are from where two outputs at a time end */
            row0 += stride, row1 += stride, row2 += stride, output += pitch;
        row0 += record->row_step / 2, row1 += record->row_step / 2, row2 += record->row_step / 2;
        output += record->output_step;
    }
}

#endif

/* Whether cortex_m_row_3x3 has the mode, with outputs in the range of int8. */
KILN_INLINE int32_t cortex_m_has_row_3x3(int32_t mode) {
#if CORTEX_M_DSP && !defined(__ARM_FP)
    return mode == CORTEX_M_DOUBLE;
#else
    return mode == CORTEX_M_DOUBLE || mode == CORTEX_M_FAST;
#endif
}

#endif
