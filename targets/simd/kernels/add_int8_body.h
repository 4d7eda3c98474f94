/* The sum of two int8 tensors of one shape. Expects SIMD(name), SIMD_KERNEL(name, form),
 * SIMD_LANES and SUM_VECTORS: how many vectors are stored together. */

#define SUM_BLOCK (SUM_VECTORS * SIMD_LANES)

/* One operand, less its zero point, in the scale of the sum. */
KILN_INLINE SIMD(i32) SIMD(sum_operand)(SIMD(i32) value, int32_t left_shift, int32_t multiplier,
                                        int32_t right) {
    return SIMD(requantize_tflite)(SIMD(shift_left_i32)(value, left_shift),
                                   SIMD(set_i32)(multiplier), SIMD(set_i32)(0),
                                   SIMD(set_i32)(right));
}

KILN_INLINE SIMD(i32) SIMD(sum_vector)(const struct simd_add_int8_shape *s, const int8_t *a,
                                       const int8_t *b) {
    SIMD(i32) left = SIMD(add_i32)(SIMD(widen_int8)(a), -s->a_zero_point);
    SIMD(i32) right = SIMD(add_i32)(SIMD(widen_int8)(b), -s->b_zero_point);
    if (s->rounding == KILN_ROUND_FAST) {
        SIMD(f32) first = SIMD(scaled_f32)(left, s->a_scale);
        left = SIMD(round_sum_f32)(first, SIMD(scaled_f32)(right, s->b_scale));
    } else {
        left = SIMD(sum_operand)(left, s->left_shift, s->a_multiplier, s->a_right);
        right = SIMD(sum_operand)(right, s->left_shift, s->b_multiplier, s->b_right);
        left = SIMD(add_signed_i32)(left, right, s->b_sign);
        left = SIMD(sum_operand)(left, 0, s->output_multiplier, s->output_right);
    }
    return SIMD(add_i32)(left, s->output_zero_point);
}

KILN_INLINE void SIMD(sum_block)(const struct simd_add_int8_shape *s, const int8_t *a,
                                 const int8_t *b, int8_t *to) {
    SIMD(i32) sums[SUM_VECTORS];
    SIMD_UNROLL
    for (int32_t v = 0; v < SUM_VECTORS; v++)
        sums[v] = SIMD(sum_vector)(s, a + v * SIMD_LANES, b + v * SIMD_LANES);
    SIMD(store_int8)(to, sums, SUM_VECTORS, s->clamp_low, s->clamp_high, SUM_BLOCK);
}

KILN_KERNEL void SIMD_KERNEL(add_int8, )(const struct simd_add_int8_shape *s, const int8_t *a,
                                         const int8_t *b, int8_t *output) {
    int32_t i = 0;
    for (; i + SUM_BLOCK <= s->count; i += SUM_BLOCK)
        SIMD(sum_block)(s, a + i, b + i, output + i);
    if (i < s->count) {
        int8_t left[SUM_BLOCK] = {0}, right[SUM_BLOCK] = {0}, sums[SUM_BLOCK];
        for (int32_t j = 0; i + j < s->count; j++) {
            left[j] = a[i + j];
            right[j] = b[i + j];
        }
        SIMD(sum_block)(s, left, right, sums);
        for (int32_t j = 0; i + j < s->count; j++) output[i + j] = sums[j];
    }
}

#undef SUM_BLOCK
#undef SUM_VECTORS
