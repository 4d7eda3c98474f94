/* Sums and differences of int8 tensors of one shape. */
#ifndef CORTEX_M_ADD_INT8_H
#define CORTEX_M_ADD_INT8_H

#include "cortex_m/kernels/simd.h"
#include "simd/kernels/add_int8_shape.h"

/* Half of `doubled` times the factor. */
KILN_INLINE int32_t cortex_m_rescale(const struct simd_fixed_point *factor, int32_t doubled) {
    const int32_t high = cortex_m_rounded_high_product(doubled, factor->multiplier);
    /* One less where negative: a tie is then rounded away from zero. */
    return factor->right == 0 ? high + factor->offset
                              : (high + (high >> 31) + factor->offset) >> factor->right;
}

/* `value` is less its zero point. */
KILN_INLINE int32_t cortex_m_scaled_operand(const struct simd_add_int8_shape *s,
                                            const struct simd_fixed_point *factor, int32_t value) {
    if (factor->multiplier == 1 << 30 && factor->right == 0) /* the operand of the larger scale */
        return value * (1 << s->left_shift >> 1);
    return cortex_m_rescale(factor, value * (2 << s->left_shift));
}

KILN_INLINE int8_t cortex_m_sum_of(const struct simd_add_int8_shape *s, int32_t a, int32_t b) {
    int32_t value;
    if (s->rounding == KILN_ROUND_FAST) {
        value =
            cortex_m_round((float)a * s->a_scale + (float)b * s->b_scale) + s->output_zero_point;
    } else {
        const int32_t sum =
            cortex_m_scaled_operand(s, &s->a, a) + s->b_sign * cortex_m_scaled_operand(s, &s->b, b);
        value = cortex_m_rescale(&s->output, sum * 2);
    }
    if (s->clamp_low == -128 && s->clamp_high == 127)
        return (int8_t)cortex_m_saturate(value);
    return (int8_t)kiln_clamp(value, s->clamp_low, s->clamp_high);
}

KILN_KERNEL void add_int8__cortex_m(const struct simd_add_int8_shape *s, const int8_t *a,
                                    const int8_t *b, int8_t *output) {
    const int32_t a_offset = -s->a_zero_point, b_offset = -s->b_zero_point;
    int32_t i = 0;
    CORTEX_M_NO_UNROLL
    for (; i + 4 <= s->count; i += 4) {
        uint32_t first, second;
        memcpy(&first, a + i, 4);
        memcpy(&second, b + i, 4);
        output[i] = cortex_m_sum_of(s, cortex_m_add_byte(a_offset, first, 0),
                                    cortex_m_add_byte(b_offset, second, 0));
        output[i + 1] = cortex_m_sum_of(s, cortex_m_add_byte(a_offset, first, 1),
                                        cortex_m_add_byte(b_offset, second, 1));
        output[i + 2] = cortex_m_sum_of(s, cortex_m_add_byte(a_offset, first, 2),
                                        cortex_m_add_byte(b_offset, second, 2));
        output[i + 3] = cortex_m_sum_of(s, cortex_m_add_byte(a_offset, first, 3),
                                        cortex_m_add_byte(b_offset, second, 3));
    }
    CORTEX_M_NO_UNROLL
    for (; i < s->count; i++)
        output[i] = cortex_m_sum_of(s, a[i] + a_offset, b[i] + b_offset);
}

#endif
