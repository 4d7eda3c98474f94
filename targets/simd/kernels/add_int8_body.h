/* The sum of two int8 tensors of one shape. Expects SIMD(name), SIMD_KERNEL(name, form),
 * SIMD_LANES and SUM_VECTORS: how many vectors are stored together. */

#define SUM_BLOCK (SUM_VECTORS * SIMD_LANES)

KILN_INLINE SIMD(i32) SIMD(sum_rescale)(const struct simd_fixed_point *s, SIMD(i32) value) {
    return SIMD(requantize_tflite)(value, SIMD(set_i32)(s->multiplier), SIMD(set_i32)(s->right),
                                   SIMD(set_i32)(s->offset));
}

KILN_INLINE SIMD(i32)
    SIMD(sum_vector)(const struct simd_add_int8_shape *s, const int8_t *a, const int8_t *b) {
    if (s->rounding == SIMD_SUM_PLANE) {
        SIMD(f32)
        sum =
            SIMD(multiply_add)(SIMD(broadcast_f32)(&s->plane_offset),
                               SIMD(to_f32)(SIMD(widen_int8)(b)), SIMD(broadcast_f32)(&s->b_scale));
        sum = SIMD(multiply_add)(sum, SIMD(to_f32)(SIMD(widen_int8)(a)),
                                 SIMD(broadcast_f32)(&s->a_scale));
        return SIMD(add_i32)(SIMD(round_nudged)(sum, s->plane_nudge), s->output_zero_point);
    }
    SIMD(i32) left = SIMD(add_i32)(SIMD(widen_int8)(a), -s->a_zero_point);
    SIMD(i32) right = SIMD(add_i32)(SIMD(widen_int8)(b), -s->b_zero_point);
    if (s->rounding == KILN_ROUND_FAST) {
        SIMD(f32) first = SIMD(scaled_f32)(left, s->a_scale);
        left = SIMD(round_sum_f32)(first, SIMD(scaled_f32)(right, s->b_scale));
        return SIMD(add_i32)(left, s->output_zero_point);
    }
    const SIMD(i32) bits = SIMD(set_i32)(s->left_shift);
    left = SIMD(sum_rescale)(&s->a, SIMD(shift_left)(left, bits));
    right = SIMD(sum_rescale)(&s->b, SIMD(shift_left)(right, bits));
    return SIMD(sum_rescale)(&s->output, SIMD(add_signed_i32)(left, right, s->b_sign));
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
        for (int32_t j = 0; i + j < s->count; j++)
            output[i + j] = sums[j];
    }
}

#undef SUM_BLOCK
#undef SUM_VECTORS
