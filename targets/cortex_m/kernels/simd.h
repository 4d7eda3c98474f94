/* The primitives of Cortex-M kernels: with the DSP instructions of M4 and M7, or in plain C. */
#ifndef CORTEX_M_SIMD_H
#define CORTEX_M_SIMD_H

#include "kernel.h"

#include "memory.h"

/* Without optimization there are too few registers for the assembly. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__OPTIMIZE__)
#define CORTEX_M_DSP 1
#else
#define CORTEX_M_DSP 0
#endif

/* Loops that are in assembly, or small enough as they are. */
#if defined(__clang__)
#define CORTEX_M_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define CORTEX_M_NO_UNROLL _Pragma("GCC unroll 1")
#endif

/* Four elements are a quad. Widened to 16 bits they lie in the order in which SXTB16 unpacks a
 * word, as two pairs, and so do the weights that they are multiplied with:
 *
 *     bytes   0 1 2 3   ->   16 bits   0 2 | 1 3
 *
 * Widens `quads` quads to places `pitch` elements apart, which is 4 or 8; to the place behind. */
KILN_INLINE int16_t *cortex_m_widen(const int8_t *from, int32_t quads, int16_t *to, int32_t pitch) {
#if CORTEX_M_DSP
    int32_t even, odd;
#define CORTEX_M_QUAD(bytes)                                                                       \
    "ldr %[even], [%[from]], #4\n\t"                                                               \
    "sxtb16 %[odd], %[even], ror #8\n\t"                                                           \
    "sxtb16 %[even], %[even]\n\t"                                                                  \
    "strd %[even], %[odd], [%[to]], #" bytes "\n\t"
#define CORTEX_M_QUADS(bytes)                                                                      \
    __asm__ volatile("tst %[quads], #1\n\t"                                                        \
                     "beq 2f\n\t" CORTEX_M_QUAD(                                                   \
                         bytes) "subs %[quads], %[quads], #1\n\t"                                  \
                                "ble 3f\n"                                                         \
                                "2:\n\t" CORTEX_M_QUAD(bytes)                                      \
                                    CORTEX_M_QUAD(bytes) "subs %[quads], %[quads], #2\n\t"         \
                                                         "bgt 2b\n"                                \
                                                         "3:"                                      \
                     : [from] "+r"(from), [to] "+r"(to), [quads] "+r"(quads), [even] "=&r"(even),  \
                       [odd] "=&r"(odd)                                                            \
                     :                                                                             \
                     : "cc", "memory")
    if (pitch == 8)
        CORTEX_M_QUADS("16");
    else
        CORTEX_M_QUADS("8");
#undef CORTEX_M_QUAD
#undef CORTEX_M_QUADS
#else
    CORTEX_M_NO_UNROLL
    for (; quads > 0; quads--, from += 4, to += pitch)
        to[0] = from[0], to[1] = from[2], to[2] = from[1], to[3] = from[3];
#endif
    return to;
}

/* Four bytes each of two neighbours, as a pair of 16 bits for each byte, `pitch` elements apart. */
KILN_INLINE void cortex_m_transpose_pair(uint32_t first, uint32_t second, int16_t *to,
                                         int32_t pitch) {
#if CORTEX_M_DSP
    int32_t a, b, c, d, pairs[4];
    __asm__("sxtb16 %0, %1" : "=r"(a) : "r"(first));
    __asm__("sxtb16 %0, %1" : "=r"(b) : "r"(second));
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(c) : "r"(first));
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(d) : "r"(second));
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(pairs[0]) : "r"(a), "r"(b));
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(pairs[1]) : "r"(c), "r"(d));
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(pairs[2]) : "r"(b), "r"(a));
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(pairs[3]) : "r"(d), "r"(c));
    for (int32_t i = 0; i < 4; i++)
        memcpy(__builtin_assume_aligned(to + i * pitch, 4), &pairs[i], 4);
#else
    for (int32_t i = 0; i < 4; i++, first >>= 8, second >>= 8, to += pitch)
        to[0] = (int8_t)first, to[1] = (int8_t)second;
#endif
}

/* The upper half of a * b, rounded half up. */
KILN_INLINE int32_t cortex_m_rounded_high_product(int32_t a, int32_t b) {
#if CORTEX_M_DSP
    int32_t result;
    __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
#else
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 31)) >> 32);
#endif
}

/* The upper half of a * b, rounded down. */
KILN_INLINE int32_t cortex_m_high_product(int32_t a, int32_t b) {
    return (int32_t)((int64_t)a * b >> 32);
}

KILN_INLINE int32_t cortex_m_saturate(int32_t value) {
#if CORTEX_M_DSP
    int32_t result;
    __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
    return result;
#else
    return kiln_clamp(value, -128, 127);
#endif
}

/* value + byte `index` of a word, sign extended. */
KILN_INLINE int32_t cortex_m_add_byte(int32_t value, uint32_t word, int32_t index) {
#if CORTEX_M_DSP
    int32_t result;
    switch (index) {
    case 0:
        __asm__("sxtab %0, %1, %2" : "=r"(result) : "r"(value), "r"(word));
        break;
    case 1:
        __asm__("sxtab %0, %1, %2, ror #8" : "=r"(result) : "r"(value), "r"(word));
        break;
    case 2:
        __asm__("sxtab %0, %1, %2, ror #16" : "=r"(result) : "r"(value), "r"(word));
        break;
    default:
        __asm__("sxtab %0, %1, %2, ror #24" : "=r"(result) : "r"(value), "r"(word));
        break;
    }
    return result;
#else
    return value + (int8_t)(word >> 8 * index);
#endif
}

/* rint(value), ties to even; at least 2^20 in size where the value is. */
KILN_INLINE int32_t cortex_m_round(float value) {
#if defined(__ARM_FP)
    float bits;
    int32_t result;
    __asm__("vcvtr.s32.f32 %0, %1" : "=t"(bits) : "t"(value));
    memcpy(&result, &bits, 4);
    return result;
#else
    return kiln_round_to_even(kiln_clamp_float(value, -1048576.0f, 1048576.0f));
#endif
}

/* memcpy of a few bytes, without the call; the place behind. */
KILN_INLINE int8_t *cortex_m_copy(int8_t *to, const int8_t *from, int32_t bytes) {
    if (__builtin_constant_p(bytes) && bytes <= 16) {
        memcpy(to, from, (size_t)bytes);
        return to + bytes;
    }
    CORTEX_M_NO_UNROLL
    for (; bytes >= 4; bytes -= 4, to += 4, from += 4) {
        int32_t word;
        memcpy(&word, from, 4);
        __asm__("" : "+r"(word)); /* or the loop becomes a call of memcpy again */
        memcpy(to, &word, 4);
    }
    CORTEX_M_NO_UNROLL
    for (; bytes > 0; bytes--) {
        int8_t byte = *from++;
        __asm__("" : "+r"(byte));
        *to++ = byte;
    }
    return to;
}

/* memset of a few bytes, without the call. */
KILN_INLINE void cortex_m_fill(int8_t *to, int32_t value, int32_t bytes) {
    CORTEX_M_NO_UNROLL
    for (; bytes > 0; bytes--) {
        __asm__("" : "+r"(value));
        *to++ = (int8_t)value;
    }
}

#endif
