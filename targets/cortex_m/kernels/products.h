/* Sums of products of int8 weights with widened activations, two channels to a word: the inner
 * loops of convolutions. In assembly where there are DSP instructions, for they need every
 * register. */
#ifndef CORTEX_M_PRODUCTS_H
#define CORTEX_M_PRODUCTS_H

#include "cortex_m/kernels/requantize.h"

/* Weights of two channels share a word of 16 bits, so that only one of them needs unpacking:
 *
 *     word = 256 * second + first
 *     256 * sum(x * second) = sum(x * word) - sum(x * first), where no sum leaves 32 bits
 *
 * A pair of channels has all its words together, inputs 0 2 1 3 of each quad. */
struct cortex_m_sums {
    int32_t first, both; /* sum(x * first), sum(x * word) */
};

KILN_INLINE int32_t cortex_m_second(struct cortex_m_sums sums) {
    return (sums.both - sums.first) >> 8;
}

#if CORTEX_M_DSP

#define CORTEX_M_STEP                                                                              \
    "ldmia %[x]!, {r2-r5}\n\t"                                                                     \
    "ldrd %[u], %[v], [%[w]], #8\n\t"                                                              \
    "smlad %[both0], r2, %[u], %[both0]\n\t"                                                       \
    "smlad %[both1], r4, %[u], %[both1]\n\t"                                                       \
    "sxtb16 %[u], %[u]\n\t"                                                                        \
    "smlad %[both0], r3, %[v], %[both0]\n\t"                                                       \
    "smlad %[both1], r5, %[v], %[both1]\n\t"                                                       \
    "sxtb16 %[v], %[v]\n\t"                                                                        \
    "smlad %[first0], r2, %[u], %[first0]\n\t"                                                     \
    "smlad %[first1], r4, %[u], %[first1]\n\t"                                                     \
    "smlad %[first0], r3, %[v], %[first0]\n\t"                                                     \
    "smlad %[first1], r5, %[v], %[first1]\n\t"

/* Two pixels, whose quads alternate in x, times the two channels of `bytes` of weights; the
 * weights behind them. */
KILN_INLINE const int8_t *cortex_m_dot_2x2(const int16_t *x, const int8_t *weights, int32_t bytes,
                                           struct cortex_m_sums sums[2]) {
    int32_t first0 = 0, both0 = 0, first1 = 0, both1 = 0, u = bytes, v;
    const int8_t *const end = weights + bytes; /* in memory: a register must be left over */
    /* Four quads at a time; where their number is not a multiple of that, it starts halfway. */
    __asm__ volatile("tst %[u], #16\n\t"
                     "bne 2f\n"
                     "1:\n\t" CORTEX_M_STEP CORTEX_M_STEP "2:\n\t" CORTEX_M_STEP CORTEX_M_STEP
                     "ldr %[u], %[end]\n\t"
                     "cmp %[w], %[u]\n\t"
                     "bne 1b"
                     : [x] "+r"(x), [w] "+r"(weights), [first0] "+r"(first0), [both0] "+r"(both0),
                       [first1] "+r"(first1), [both1] "+r"(both1), [u] "+r"(u), [v] "=&r"(v)
                     : [end] "m"(end)
                     : "r2", "r3", "r4", "r5", "cc", "memory");
    sums[0].first = first0, sums[0].both = both0;
    sums[1].first = first1, sums[1].both = both1;
    return weights;
}
#undef CORTEX_M_STEP

#define CORTEX_M_HALF(weights, first, both)                                                        \
    "ldrd r4, r5, [%[" weights "]], #8\n\t"                                                        \
    "smlad %[" both "], r2, r4, %[" both "]\n\t"                                                   \
    "sxtb16 r4, r4\n\t"                                                                            \
    "smlad %[" both "], r3, r5, %[" both "]\n\t"                                                   \
    "sxtb16 r5, r5\n\t"                                                                            \
    "smlad %[" first "], r2, r4, %[" first "]\n\t"                                                 \
    "smlad %[" first "], r3, r5, %[" first "]\n\t"
#define CORTEX_M_WIDENED "ldrd r2, r3, [%[x]], #8\n\t"
#define CORTEX_M_BYTES                                                                             \
    "ldr r2, [%[x]], #4\n\t"                                                                       \
    "sxtb16 r3, r2, ror #8\n\t"                                                                    \
    "sxtb16 r2, r2\n\t"
#define CORTEX_M_STEP(load)                                                                        \
    load CORTEX_M_HALF("w0", "first0", "both0") CORTEX_M_HALF("w1", "first1", "both1")
#define CORTEX_M_DOT_1X4(load)                                                                     \
    int32_t first0 = 0, both0 = 0, first1 = 0, both1 = 0;                                          \
    const int8_t *other = weights + bytes, *const end = other;                                     \
    __asm__ volatile("1:\n\t" CORTEX_M_STEP(load)                                                  \
                         CORTEX_M_STEP(load) "ldr r4, %[end]\n\tcmp %[w0], r4\n\t"                 \
                                             "bne 1b"                                              \
                     : [x] "+r"(x), [w0] "+r"(weights), [w1] "+r"(other), [first0] "+r"(first0),   \
                       [both0] "+r"(both0), [first1] "+r"(first1), [both1] "+r"(both1)             \
                     : [end] "m"(end)                                                              \
                     : "r2", "r3", "r4", "r5", "cc", "memory");                                    \
    sums[0].first = first0, sums[0].both = both0;                                                  \
    sums[1].first = first1, sums[1].both = both1;                                                  \
    return other

/* One pixel times the four channels of two times `bytes` of weights; the weights behind them. */
KILN_INLINE const int8_t *cortex_m_dot_1x4(const int16_t *x, const int8_t *weights, int32_t bytes,
                                           struct cortex_m_sums sums[2]) {
    CORTEX_M_DOT_1X4(CORTEX_M_WIDENED);
}

/* The same for a pixel that is not widened, of any alignment. */
KILN_INLINE const int8_t *cortex_m_dot_bytes_1x4(const int8_t *x, const int8_t *weights,
                                                 int32_t bytes, struct cortex_m_sums sums[2]) {
    CORTEX_M_DOT_1X4(CORTEX_M_BYTES);
}
#undef CORTEX_M_DOT_1X4
#undef CORTEX_M_STEP
#undef CORTEX_M_BYTES
#undef CORTEX_M_WIDENED
#undef CORTEX_M_HALF

#else

KILN_INLINE const int8_t *cortex_m_dot_2x2(const int16_t *x, const int8_t *weights, int32_t bytes,
                                           struct cortex_m_sums sums[2]) {
    struct cortex_m_sums first = {0, 0}, second = {0, 0};
    const int16_t *words = (const int16_t *)(const void *)weights;
    CORTEX_M_NO_UNROLL
    for (const int16_t *end = words + bytes / 2; words != end; words += 4, x += 8) {
        for (int32_t i = 0; i < 4; i++) {
            const int32_t word = words[i], low = (int8_t)word;
            first.first += x[i] * low, first.both += x[i] * word;
            second.first += x[i + 4] * low, second.both += x[i + 4] * word;
        }
    }
    sums[0] = first, sums[1] = second;
    return weights + bytes;
}

KILN_INLINE const int8_t *cortex_m_dot_1x4(const int16_t *x, const int8_t *weights, int32_t bytes,
                                           struct cortex_m_sums sums[2]) {
    struct cortex_m_sums first = {0, 0}, second = {0, 0};
    const int16_t *words = (const int16_t *)(const void *)weights;
    const int16_t *others = words + bytes / 2;
    CORTEX_M_NO_UNROLL
    for (const int16_t *end = others; words != end; words++, others++, x++) {
        first.first += *x * (int8_t)*words, first.both += *x * *words;
        second.first += *x * (int8_t)*others, second.both += *x * *others;
    }
    sums[0] = first, sums[1] = second;
    return weights + 2 * bytes;
}

KILN_INLINE const int8_t *cortex_m_dot_bytes_1x4(const int8_t *x, const int8_t *weights,
                                                 int32_t bytes, struct cortex_m_sums sums[2]) {
    static const uint8_t order[4] = {0, 2, 1, 3};
    struct cortex_m_sums first = {0, 0}, second = {0, 0};
    const int16_t *words = (const int16_t *)(const void *)weights;
    const int16_t *others = words + bytes / 2;
    CORTEX_M_NO_UNROLL
    for (const int16_t *end = others; words != end; words += 4, others += 4, x += 4) {
        for (int32_t i = 0; i < 4; i++) {
            const int32_t value = x[order[i]];
            first.first += value * (int8_t)words[i], first.both += value * words[i];
            second.first += value * (int8_t)others[i], second.both += value * others[i];
        }
    }
    sums[0] = first, sums[1] = second;
    return weights + 2 * bytes;
}

#endif

#if CORTEX_M_DSP
/* r2 bias, r3 multiplier, r4 shift, r5 offset */
#define CORTEX_M_CONSTANTS                                                                         \
    "ldmia %[constants]!, {r2-r4}\n\t"                                                             \
    "lsl r5, %[unit], r4\n\t"
#define CORTEX_M_BIAS(value, operation) "add " value ", r2, " value ", " operation "\n\t"
#define CORTEX_M_DOUBLE_ROUNDING(value)                                                            \
    "smmulr " value ", " value ", r3\n\t"                                                          \
    "add " value ", " value ", " value ", asr #31\n\t"                                             \
    "add " value ", " value ", r5\n\t"                                                             \
    "asr " value ", " value ", r4\n\t"                                                             \
    "ssat " value ", #8, " value ", asr #1\n\t"
#define CORTEX_M_SINGLE_ROUNDING(value)                                                            \
    "smmla " value ", " value ", r3, r5\n\t"                                                       \
    "asr " value ", " value ", r4\n\t"                                                             \
    "ssat " value ", #8, " value ", asr #1\n\t"
#define CORTEX_M_STORE_2X2(rounding)                                                               \
    __asm__ volatile(                                                                              \
        CORTEX_M_CONSTANTS                                                                         \
        "sub %[both0], %[both0], %[first0]\n\t"                                                    \
        "sub %[both1], %[both1], %[first1]\n\t" CORTEX_M_BIAS("%[first0]", "lsl #1")               \
            CORTEX_M_BIAS("%[first1]", "lsl #1") rounding("%[first0]") rounding(                   \
                "%[first1]") "strb %[first0], [%[to]]\n\t"                                         \
                             "strb %[first1], [%[to], %[pitch]]\n\t" CORTEX_M_CONSTANTS            \
                                 CORTEX_M_BIAS("%[both0]", "asr #7") CORTEX_M_BIAS(                \
                                     "%[both1]", "asr #7") rounding("%[both0]")                    \
                                     rounding("%[both1]") "add %[to], %[to], #1\n\t"               \
                                                          "strb %[both0], [%[to]]\n\t"             \
                                                          "strb %[both1], [%[to], %[pitch]]\n\t"   \
        : [first0] "+r"(first0), [first1] "+r"(first1), [both0] "+r"(both0), [both1] "+r"(both1),  \
          [constants] "+r"(constants), [to] "+r"(output)                                           \
        : [unit] "r"(2 * zero_point + 1), [pitch] "r"(pitch)                                       \
        : "r2", "r3", "r4", "r5", "memory")
#define CORTEX_M_STORE_1X2(rounding)                                                               \
    __asm__ volatile(CORTEX_M_CONSTANTS                                                            \
                     "sub %[both], %[both], %[first]\n\t" CORTEX_M_BIAS("%[first]", "lsl #1")      \
                         rounding("%[first]")                                                      \
                             CORTEX_M_CONSTANTS CORTEX_M_BIAS("%[both]", "asr #7")                 \
                                 rounding("%[both]") "strb %[first], [%[to]]\n\t"                  \
                                                     "strb %[both], [%[to], #1]\n\t"               \
                     : [first] "+r"(first), [both] "+r"(both), [constants] "+r"(constants)         \
                     : [to] "r"(output), [unit] "r"(2 * zero_point + 1)                            \
                     : "r2", "r3", "r4", "r5", "memory")
#endif

/* Two channels of two pixels, from sums of cortex_m_dot_2x2 to outputs in the range of int8, where
 * no channel is missing; the constants behind theirs. */
KILN_INLINE const int32_t *cortex_m_store_2x2(int32_t mode, const struct cortex_m_sums sums[2],
                                              const int32_t *constants, int32_t zero_point,
                                              int8_t *output, int32_t pitch) {
#if CORTEX_M_DSP
    int32_t first0 = sums[0].first, both0 = sums[0].both;
    int32_t first1 = sums[1].first, both1 = sums[1].both;
    if (mode == CORTEX_M_DOUBLE) {
        CORTEX_M_STORE_2X2(CORTEX_M_DOUBLE_ROUNDING);
        return constants;
    }
    if (mode == CORTEX_M_SINGLE) {
        CORTEX_M_STORE_2X2(CORTEX_M_SINGLE_ROUNDING);
        return constants;
    }
#endif
    const int32_t words = cortex_m_words(mode, 0);
    const struct cortex_m_channel first = cortex_m_channel(mode, 0, constants, zero_point);
    const struct cortex_m_channel second = cortex_m_channel(mode, 0, constants + words, zero_point);
    for (int32_t i = 0; i < 2; i++, output += pitch) {
        output[0] = cortex_m_requantize(mode, 0, first, sums[i].first, 1, 0, 0);
        output[1] = cortex_m_requantize(mode, 0, second, cortex_m_second(sums[i]), 1, 0, 0);
    }
    return constants + 2 * words;
}

/* The same for one pixel. */
KILN_INLINE const int32_t *cortex_m_store_1x2(int32_t mode, struct cortex_m_sums sums,
                                              const int32_t *constants, int32_t zero_point,
                                              int8_t *output) {
#if CORTEX_M_DSP
    int32_t first = sums.first, both = sums.both;
    if (mode == CORTEX_M_DOUBLE) {
        CORTEX_M_STORE_1X2(CORTEX_M_DOUBLE_ROUNDING);
        return constants;
    }
    if (mode == CORTEX_M_SINGLE) {
        CORTEX_M_STORE_1X2(CORTEX_M_SINGLE_ROUNDING);
        return constants;
    }
#endif
    const int32_t words = cortex_m_words(mode, 0);
    output[0] = cortex_m_requantize(mode, 0, cortex_m_channel(mode, 0, constants, zero_point),
                                    sums.first, 1, 0, 0);
    output[1] =
        cortex_m_requantize(mode, 0, cortex_m_channel(mode, 0, constants + words, zero_point),
                            cortex_m_second(sums), 1, 0, 0);
    return constants + 2 * words;
}

#if CORTEX_M_DSP
#undef CORTEX_M_STORE_1X2
#undef CORTEX_M_STORE_2X2
#undef CORTEX_M_SINGLE_ROUNDING
#undef CORTEX_M_DOUBLE_ROUNDING
#undef CORTEX_M_BIAS
#undef CORTEX_M_CONSTANTS
#endif

#endif
