/* Accumulators to outputs: included once per instruction set. Expects SIMD(name). */

/* One vector, of the channels from `first` on; `stride` is the length of a row of `scale`. */
KILN_INLINE SIMD(i32) SIMD(requantize)(const struct simd_requantization *s, SIMD(i32) sum,
                                       const void *scale, int32_t stride, int32_t first) {
    if (s->rounding == KILN_ROUND_FAST) {
        sum = SIMD(requantize_fast)(sum, (const float *)scale + first);
        return SIMD(add_i32)(sum, s->zero_point);
    }
    if (s->rounding == SIMD_ROUND_LINE) {
        const float *slope = (const float *)scale + first;
        sum = SIMD(requantize_line)(sum, slope, slope + stride, s->line_by_sign);
        return SIMD(add_i32)(sum, s->zero_point);
    }
    const int32_t *row = (const int32_t *)scale + first;
    const SIMD(i32) multiplier = SIMD(load_i32)(row), right = SIMD(load_i32)(row + stride);
    const SIMD(i32) offset = SIMD(load_i32)(row + 2 * stride);
    if (s->shifts_left)
        sum = SIMD(shift_left)(sum, SIMD(load_i32)(row + 3 * stride));
    sum = s->rounding == KILN_ROUND_SINGLE
              ? SIMD(requantize_single)(sum, multiplier, right, offset)
              : SIMD(requantize_tflite)(sum, multiplier, right, offset);
    return SIMD(add_i32)(sum, s->zero_point);
}
