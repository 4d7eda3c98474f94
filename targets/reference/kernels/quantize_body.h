/* quantize and dequantize of one type: expects KILN_DTYPE and KILN_TYPE, and undefines them. */

#define KILN_JOIN_(a, b) a##_##b##__reference
#define KILN_JOIN(a, b) KILN_JOIN_(a, b)

KILN_KERNEL void KILN_JOIN(quantize, KILN_DTYPE)(const struct quantize_shape *s, const float *input,
                                                 KILN_TYPE *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++)
        output[i] = (KILN_TYPE)kiln_integer(input[i], s->scale, s->zero_point, s->low, s->high);
}

KILN_KERNEL void KILN_JOIN(quantize_even, KILN_DTYPE)(const struct quantize_shape *s,
                                                      const float *input, KILN_TYPE *output) {
    const float low = (float)(s->low - s->zero_point), high = (float)(s->high - s->zero_point);
    for (int32_t i = 0; i < s->count; i++) {
        const float steps = kiln_rintf(input[i] / s->scale);
        output[i] = steps != steps
                        ? 0
                        : (KILN_TYPE)((int32_t)kiln_clamp_float(steps, low, high) + s->zero_point);
    }
}

KILN_KERNEL void KILN_JOIN(dequantize, KILN_DTYPE)(const struct quantize_shape *s,
                                                   const KILN_TYPE *input, float *output) {
    KILN_INDEPENDENT
    for (int32_t i = 0; i < s->count; i++)
        output[i] = kiln_real(input[i], s->zero_point, s->scale);
}

#undef KILN_JOIN_
#undef KILN_JOIN
#undef KILN_DTYPE
#undef KILN_TYPE
