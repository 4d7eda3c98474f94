/* log_softmax and l2_normalization of 8-bit integers, softmax of 16-bit ones, in fixed point. */
#ifndef REFERENCE_NORMALIZATION_INTEGER_H
#define REFERENCE_NORMALIZATION_INTEGER_H

#include "reference/kernels/fixed_point.h"

/* (outer, extent, inner); the axis has `extent` elements `inner` apart. A difference to the largest
 * counts where it is more than `least`, and than what its multiplier turns the limit into. */
struct log_softmax_integer_shape {
    int32_t outer, extent, inner; /* extent below 4096: sums have 12 integer bits */
    int32_t least, multiplier, shift;
};
/* The sum of squares fits an int32. The result gains its 7 bits before or while it is rescaled. */
struct l2_normalization_integer_shape {
    int32_t outer, extent;
    int32_t input_zero_point, output_zero_point, bits_before, bits_while;
};
struct softmax_int16_shape {
    int32_t outer, extent, inner; /* extent below 65536 */
    int32_t multiplier, shift;
};

#define KILN_SUFFIX int8__reference
#define KILN_TYPE int8_t
#define KILN_LEAST INT8_MIN
#define KILN_MOST INT8_MAX
#include "reference/kernels/normalization_integer_body.h"

#define KILN_SUFFIX uint8__reference
#define KILN_TYPE uint8_t
#define KILN_LEAST 0
#define KILN_MOST UINT8_MAX
#include "reference/kernels/normalization_integer_body.h"

/* A table of 513 entries, 128 apart, read at the 16-bit number x. */
KILN_INLINE int32_t kiln_interpolate(const int16_t *table, int32_t x) {
    const int16_t *entry = table + 256 + (x >> 7);
    const int32_t slope = (int16_t)(entry[1] - entry[0]);
    return entry[0] + ((slope * (x & 0x7F) + 64) >> 7);
}

/* exponentials: exp(x) for x in [-10, 0]; reciprocals: 1 / (1 + x) for x in [0, 1]. */
KILN_KERNEL void softmax_int16__reference(const struct softmax_int16_shape *s, const int16_t *input,
                                          const int16_t *exponentials, const int16_t *reciprocals,
                                          int16_t *output) {
    for (int32_t outer = 0; outer < s->outer; outer++) {
        for (int32_t inner = 0; inner < s->inner; inner++) {
            const int32_t first = outer * s->extent * s->inner + inner;
            int32_t largest = input[first];
            for (int32_t i = 1; i < s->extent; i++) {
                const int32_t x = input[first + i * s->inner];
                largest = x > largest ? x : largest;
            }
            int32_t sum = 0; /* 15 fraction bits */
            for (int32_t i = 0; i < s->extent; i++) {
                const int32_t scaled = kiln_multiply_quantized(
                    input[first + i * s->inner] - largest, s->multiplier, s->shift);
                const int32_t e = kiln_interpolate(
                    exponentials, kiln_clamp(scaled + INT16_MAX, INT16_MIN, INT16_MAX));
                output[first + i * s->inner] = (int16_t)e;
                sum += e;
            }
            const int32_t headroom = 32 - kiln_bit_length((uint32_t)sum);
            const int32_t position =
                (int32_t)((((int64_t)sum << (headroom - 1)) + (1 << 13)) >> 14) - (3 << 15);
            const int32_t reciprocal =
                kiln_interpolate(reciprocals, kiln_clamp(position, INT16_MIN, INT16_MAX));
            const int32_t shift = 31 - headroom;
            for (int32_t i = 0; i < s->extent; i++) {
                int16_t *y = output + first + i * s->inner;
                const int64_t product = (int64_t)*y * reciprocal + ((int64_t)1 << (shift - 1));
                *y = (int16_t)kiln_clamp((int32_t)(product >> shift), 0, INT16_MAX);
            }
        }
    }
}

#endif
