/* float32 to int8 and back, one scale. Expects SIMD(name), SIMD_KERNEL(name, form), SIMD_LANES and
 * QUANTIZE_VECTORS: how many vectors of integers are stored together. */

#define QUANTIZE_BLOCK (QUANTIZE_VECTORS * SIMD_LANES)

KILN_INLINE void SIMD(quantize_block)(const struct simd_quantize_int8_shape *s, const float *from,
                                      int8_t *to, int32_t valid) {
    SIMD(i32) values[QUANTIZE_VECTORS];
    SIMD_UNROLL
    for (int32_t v = 0; v < QUANTIZE_VECTORS; v++) {
        values[v] =
            SIMD(quantize_f32)(SIMD(load_f32)(from + v * SIMD_LANES), s->scale, s->zero_point);
    }
    SIMD(store_int8)(to, values, QUANTIZE_VECTORS, -128, 127, valid);
}

/* The output may start where the input does: a block is read before it is written. */
KILN_KERNEL void SIMD_KERNEL(quantize_int8, )(const struct simd_quantize_int8_shape *s,
                                              const float *input, int8_t *output) {
    int32_t i = 0;
    for (; i + QUANTIZE_BLOCK <= s->count; i += QUANTIZE_BLOCK)
        SIMD(quantize_block)(s, input + i, output + i, QUANTIZE_BLOCK);
    if (i < s->count) {
        float rest[QUANTIZE_BLOCK] = {0};
        for (int32_t j = 0; i + j < s->count; j++)
            rest[j] = input[i + j];
        SIMD(quantize_block)(s, rest, output + i, s->count - i);
    }
}

KILN_INLINE SIMD(f32)
    SIMD(dequantize_vector)(const struct simd_quantize_int8_shape *s, const int8_t *from) {
    return SIMD(scaled_f32)(SIMD(add_i32)(SIMD(widen_int8)(from), -s->zero_point), s->scale);
}

KILN_KERNEL void SIMD_KERNEL(dequantize_int8, )(const struct simd_quantize_int8_shape *s,
                                                const int8_t *input, float *output) {
    int32_t i = 0;
    for (; i + SIMD_LANES <= s->count; i += SIMD_LANES)
        SIMD(store_f32)(output + i, SIMD(dequantize_vector)(s, input + i), SIMD_LANES);
    if (i < s->count) {
        int8_t rest[SIMD_LANES] = {0};
        for (int32_t j = 0; i + j < s->count; j++)
            rest[j] = input[i + j];
        SIMD(store_f32)(output + i, SIMD(dequantize_vector)(s, rest), s->count - i);
    }
}

#undef QUANTIZE_BLOCK
#undef QUANTIZE_VECTORS
