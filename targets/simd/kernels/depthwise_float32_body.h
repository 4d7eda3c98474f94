/* float32 depthwise convolution, elements of a row in lanes. Expects SIMD(name),
 * SIMD_KERNEL(name, form), SIMD_LANES.
 *
 *   slot:     [phase of the stride][element]
 *   weights:  [vector of the period][tap row][tap][lane] */

#define LINE(name) SIMD(depthwise_float32_##name)
#define LINE_SHAPE simd_depthwise_float32_shape
#define LINE_ELEMENT float
#define LINE_PAD(shape) 0
#include "simd/kernels/depthwise_loops.h"

#define LINE_HELD 9 /* taps whose weights stay in registers, where there are no more */

KILN_INLINE void LINE(prepare)(const struct LINE_SHAPE *s, const float *image, int32_t y,
                               int32_t x0, int32_t pixels, float *line, float *slot) {
    (void)line;
    if (y < 0 || y >= s->input_height) {
        memset(slot, 0, (size_t)s->slot_elements * sizeof *slot);
        return;
    }
    LINE(split)(s, image + y * s->input_width * s->channels, x0, pixels, slot);
}

/* One vector of outputs, `valid` of them existing. */
KILN_INLINE void LINE(vector)(const struct LINE_SHAPE *s, const float *const *slots,
                              const float *weights, const SIMD(f32) * held, SIMD(f32) bias,
                              float *to, int32_t at, int32_t valid) {
    SIMD(f32) sum = bias;
    SIMD_UNROLL
    for (int32_t ky = 0; ky < s->kernel_height; ky++) {
        SIMD_UNROLL
        for (int32_t kx = 0; kx < s->kernel_width; kx++) {
            const int32_t k = ky * s->kernel_width + kx;
            SIMD(f32) w = held != NULL ? held[k] : SIMD(load_f32)(weights + k * SIMD_LANES);
            SIMD(f32) x = SIMD(load_f32)(slots[ky] + LINE(tap_offset)(s, kx) + at);
            sum = SIMD(multiply_add)(sum, x, w);
        }
    }
    sum = SIMD(clamp_f32)(sum, SIMD(set_f32)(s->clamp_low), SIMD(set_f32)(s->clamp_high));
    SIMD(store_f32)(to + at, sum, valid);
}

KILN_INLINE void LINE(row)(const struct LINE_SHAPE *s, struct LINE(operands) operands,
                           const float *const *slots, int32_t pixels, float *to) {
    const int32_t taps = s->kernel_height * s->kernel_width;
    const int32_t count = pixels * s->channels, whole = count / SIMD_LANES;
    for (int32_t p = 0; p < s->period && p * SIMD_LANES < count; p++) {
        const float *weights = (const float *)operands.weights + p * taps * SIMD_LANES;
        const SIMD(f32) bias = SIMD(load_f32)((const float *)operands.bias + p * SIMD_LANES);
        SIMD(f32) held[LINE_HELD];
        const int32_t hold = taps <= LINE_HELD;
        if (hold) {
            SIMD_UNROLL
            for (int32_t k = 0; k < taps; k++)
                held[k] = SIMD(load_f32)(weights + k * SIMD_LANES);
        }
        int32_t i = p;
        for (; i < whole; i += s->period) {
            LINE(vector)
            (s, slots, weights, hold ? held : NULL, bias, to, i * SIMD_LANES, SIMD_LANES);
        }
        if (i * SIMD_LANES < count) {
            LINE(vector)
            (s, slots, weights, hold ? held : NULL, bias, to, i * SIMD_LANES,
             count - whole * SIMD_LANES);
        }
    }
}

KILN_KERNEL void
SIMD_KERNEL(depthwise_conv2d_float32, )(const struct simd_depthwise_float32_shape *shape,
                                        const float *input, const float *weights, const float *bias,
                                        float *ring, float *output) {
    struct LINE(operands) operands = {weights, bias, NULL};
    LINE(convolution)(shape, input, operands, NULL, ring, output);
}

#undef LINE
#undef LINE_SHAPE
#undef LINE_ELEMENT
#undef LINE_PAD
#undef LINE_HELD
