/* Inner loops of float32 convolutions. In assembly where there is an FPU: compilers do not load
 * several registers at once. */
#ifndef CORTEX_M_FLOAT_PRODUCTS_H
#define CORTEX_M_FLOAT_PRODUCTS_H

#include "cortex_m/kernels/simd.h"

#if defined(__ARM_FEATURE_FMA) && defined(__ARM_FP) && defined(__thumb2__) && defined(__OPTIMIZE__)
#define CORTEX_M_FPU 1
#else
#define CORTEX_M_FPU 0
#endif

/* sums[pixel][channel] += x[pixel] * weights, over `count` inputs; weights are those of four
 * channels, input by input. `pixels` is 1 or 2; the second one lies `pitch` elements behind. */
KILN_INLINE void cortex_m_float_dot(const float *x, int32_t pitch, const float *weights,
                                    int32_t count, int32_t pixels, float sums[2][4]) {
#if CORTEX_M_FPU
#define CORTEX_M_INPUT(x0, x1, w0, w1, w2, w3)                                                     \
    CORTEX_M_PIXEL("0", x0, w0, w1, w2, w3) CORTEX_M_OTHER(x1, w0, w1, w2, w3)
#define CORTEX_M_PIXEL(pixel, x, w0, w1, w2, w3)                                                   \
    "vfma.f32 %[s" pixel "0], " x ", " w0 "\n\t"                                                   \
    "vfma.f32 %[s" pixel "1], " x ", " w1 "\n\t"                                                   \
    "vfma.f32 %[s" pixel "2], " x ", " w2 "\n\t"                                                   \
    "vfma.f32 %[s" pixel "3], " x ", " w3 "\n\t"
#define CORTEX_M_RUN(load4, load1)                                                                 \
    "subs %[count], %[count], #4\n\t"                                                              \
    "blt 2f\n"                                                                                     \
    "1:\n\t"                                                                                       \
    "vldmia %[x]!, {s16-s19}\n\t" load4 "vldmia %[w]!, {s24-s31}\n\t"                              \
    "subs %[count], %[count], #4\n\t" CORTEX_M_INPUT("s16", "s20", "s24", "s25", "s26", "s27")     \
        CORTEX_M_INPUT("s17", "s21", "s28", "s29", "s30",                                          \
                       "s31") "vldmia %[w]!, {s24-s31}\n\t" CORTEX_M_INPUT("s18", "s22", "s24",    \
                                                                           "s25", "s26", "s27")    \
            CORTEX_M_INPUT("s19", "s23", "s28", "s29", "s30",                                      \
                           "s31") "bge 1b\n"                                                       \
                                  "2:\n\t"                                                         \
                                  "adds %[count], %[count], #4\n\t"                                \
                                  "beq 4f\n"                                                       \
                                  "3:\n\t"                                                         \
                                  "vldmia %[x]!, {s16}\n\t" load1 "vldmia %[w]!, {s24-s27}\n\t"    \
                                  "subs %[count], %[count], #1\n\t" CORTEX_M_INPUT(                \
                                      "s16", "s20", "s24", "s25", "s26", "s27") "bgt 3b\n"         \
                                                                                "4:"
#define CORTEX_M_CLOBBERS                                                                          \
    "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28",     \
        "s29", "s30", "s31", "cc", "memory"
    float *first = sums[0], *second = sums[1];
    if (pixels == 2) {
        const float *other = x + pitch;
#define CORTEX_M_OTHER(x, w0, w1, w2, w3) CORTEX_M_PIXEL("1", x, w0, w1, w2, w3)
        __asm__ volatile(CORTEX_M_RUN("vldmia %[y]!, {s20-s23}\n\t", "vldmia %[y]!, {s20}\n\t")
                         : [x] "+r"(x), [y] "+r"(other), [w] "+r"(weights), [count] "+r"(count),
                           [s00] "+t"(first[0]), [s01] "+t"(first[1]), [s02] "+t"(first[2]),
                           [s03] "+t"(first[3]), [s10] "+t"(second[0]), [s11] "+t"(second[1]),
                           [s12] "+t"(second[2]), [s13] "+t"(second[3])
                         :
                         : CORTEX_M_CLOBBERS);
#undef CORTEX_M_OTHER
    } else {
#define CORTEX_M_OTHER(x, w0, w1, w2, w3)
        __asm__ volatile(
            CORTEX_M_RUN("", "")
            : [x] "+r"(x), [w] "+r"(weights), [count] "+r"(count), [s00] "+t"(first[0]),
              [s01] "+t"(first[1]), [s02] "+t"(first[2]), [s03] "+t"(first[3])
            :
            : CORTEX_M_CLOBBERS);
#undef CORTEX_M_OTHER
    }
#undef CORTEX_M_RUN
#undef CORTEX_M_PIXEL
#undef CORTEX_M_INPUT
#else
    for (; count > 0; count--, x++, weights += 4)
        for (int32_t pixel = 0; pixel < pixels; pixel++)
            for (int32_t c = 0; c < 4; c++)
                sums[pixel][c] += x[pixel * pitch] * weights[c];
#endif
}

/* sums[channel] += x * weights of `count` taps, for 8 channels; taps lie `x_step` and `weight_step`
 * elements apart. */
KILN_INLINE void cortex_m_float_taps(const float *x, int32_t x_step, const float *weights,
                                     int32_t weight_step, int32_t count, float sums[8]) {
#if CORTEX_M_FPU
    x_step *= 4, weight_step *= 4;
    if (count <= 0)
        return;
    __asm__ volatile("1:\n\t"
                     "vldmia %[x], {s16-s23}\n\t"
                     "vldmia %[w], {s24-s31}\n\t"
                     "add %[x], %[x], %[x_step]\n\t"
                     "add %[w], %[w], %[w_step]\n\t"
                     "subs %[count], %[count], #1\n\t"
                     "vfma.f32 %[s0], s16, s24\n\t"
                     "vfma.f32 %[s1], s17, s25\n\t"
                     "vfma.f32 %[s2], s18, s26\n\t"
                     "vfma.f32 %[s3], s19, s27\n\t"
                     "vfma.f32 %[s4], s20, s28\n\t"
                     "vfma.f32 %[s5], s21, s29\n\t"
                     "vfma.f32 %[s6], s22, s30\n\t"
                     "vfma.f32 %[s7], s23, s31\n\t"
                     "bgt 1b"
                     : [x] "+r"(x), [w] "+r"(weights), [count] "+r"(count), [s0] "+t"(sums[0]),
                       [s1] "+t"(sums[1]), [s2] "+t"(sums[2]), [s3] "+t"(sums[3]),
                       [s4] "+t"(sums[4]), [s5] "+t"(sums[5]), [s6] "+t"(sums[6]),
                       [s7] "+t"(sums[7]), [x_step] "+r"(x_step), [w_step] "+r"(weight_step)
                     :
                     : CORTEX_M_CLOBBERS);
#undef CORTEX_M_CLOBBERS
#else
    for (; count > 0; count--, x += x_step, weights += weight_step)
        for (int32_t c = 0; c < 8; c++)
            sums[c] += x[c] * weights[c];
#endif
}

/* minNum and maxNum would be one instruction only from the M7 on. */
KILN_INLINE void cortex_m_float_store(float *to, const float *sums, int32_t count, float low,
                                      float high) {
    for (int32_t c = 0; c < count; c++)
        to[c] = kiln_clamp_float(sums[c], low, high);
}

#endif
