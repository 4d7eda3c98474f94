/* int8 depthwise convolution, two taps at a time in 16 bits, elements of a row in lanes. Expects
 * SIMD(name), SIMD_KERNEL(name, form), SIMD_LANES.
 *
 *   slot:     [phase of the stride][element]
 *   weights:  [block of the period][tap row][tap][element of the block]   a block is 4 vectors */

#define LINE(name) SIMD(depthwise_int8_##name)
#define LINE_SHAPE simd_depthwise_int8_shape
#define LINE_ELEMENT int8_t
#define LINE_PAD(shape) (shape)->input_zero_point
#include "simd/kernels/depthwise_loops.h"

#define LINE_BLOCK (4 * SIMD_LANES)
#define LINE_HELD 9 /* taps whose weights stay in registers, where there are no more */

KILN_INLINE void LINE(prepare)(const struct LINE_SHAPE *s, const int8_t *image, int32_t y,
                               int32_t x0, int32_t pixels, int8_t *line, int8_t *slot) {
    (void)line;
    if (y < 0 || y >= s->input_height) {
        memset(slot, s->input_zero_point, (size_t)s->slot_elements);
        return;
    }
    LINE(split)(s, image + y * s->input_width * s->channels, x0, pixels, slot);
}

KILN_INLINE SIMD(bytes)
    LINE(tap)(const struct LINE_SHAPE *s, const int8_t *const *slots, int32_t k, int32_t at) {
    const int32_t ky = k / s->kernel_width, kx = k % s->kernel_width;
    return SIMD(load_bytes)(slots[ky] + LINE(tap_offset)(s, kx) + at);
}

/* The outputs of one block, from element `at` on; `held` has the weights where there are few. */
KILN_INLINE void LINE(block)(const struct LINE_SHAPE *s, struct LINE(operands) operands,
                             const int8_t *const *slots, int32_t at, int32_t constants,
                             const SIMD(bytes) * held, int8_t *to, int32_t valid) {
    const int32_t taps = s->kernel_height * s->kernel_width;
    const int32_t period = s->period * LINE_BLOCK, first = constants * LINE_BLOCK;
    const int8_t *weights = (const int8_t *)operands.weights + first * taps;
    SIMD(i32) sums[4];
    SIMD_UNROLL
    for (int32_t v = 0; v < 4; v++)
        sums[v] = SIMD(load_i32)((const int32_t *)operands.bias + first + v * SIMD_LANES);
    SIMD_UNROLL
    for (int32_t k = 0; k < taps; k += 2) {
        SIMD(bytes) w0 = held != NULL ? held[k] : SIMD(load_bytes)(weights + k * LINE_BLOCK);
        SIMD(bytes) x0 = LINE(tap)(s, slots, k, at);
        if (k + 1 == taps) {
            SIMD(multiply_bytes)(sums, x0, w0);
        } else {
            SIMD(bytes)
            w1 = held != NULL ? held[k + 1] : SIMD(load_bytes)(weights + (k + 1) * LINE_BLOCK);
            SIMD(multiply_byte_pairs)
            (sums, x0, w0, LINE(tap)(s, slots, k + 1, at), w1, s->narrow_weights);
        }
    }
    SIMD_UNROLL
    for (int32_t v = 0; v < 4; v++) {
        sums[v] =
            SIMD(requantize)(&s->output, sums[v], operands.scale, period, first + v * SIMD_LANES);
    }
    SIMD(store_int8)(to + at, sums, 4, s->output.clamp_low, s->output.clamp_high, valid);
}

KILN_INLINE void LINE(row)(const struct LINE_SHAPE *s, struct LINE(operands) operands,
                           const int8_t *const *slots, int32_t pixels, int8_t *to) {
    const int32_t taps = s->kernel_height * s->kernel_width;
    const int32_t count = pixels * s->channels, whole = count / LINE_BLOCK;
    for (int32_t p = 0; p < s->period && p * LINE_BLOCK < count; p++) {
        SIMD(bytes) held[LINE_HELD];
        const int32_t hold = taps <= LINE_HELD;
        if (hold) {
            const int8_t *weights = (const int8_t *)operands.weights + p * taps * LINE_BLOCK;
            SIMD_UNROLL
            for (int32_t k = 0; k < taps; k++)
                held[k] = SIMD(load_bytes)(weights + k * LINE_BLOCK);
        }
        int32_t i = p;
        for (; i < whole; i += s->period) {
            LINE(block)
            (s, operands, slots, i * LINE_BLOCK, p, hold ? held : NULL, to, LINE_BLOCK);
        }
        if (i * LINE_BLOCK < count) {
            LINE(block)
            (s, operands, slots, i * LINE_BLOCK, p, hold ? held : NULL, to,
             count - whole * LINE_BLOCK);
        }
    }
}

KILN_KERNEL void SIMD_KERNEL(depthwise_conv2d_int8, )(const struct simd_depthwise_int8_shape *shape,
                                                      const int8_t *input, const int8_t *weights,
                                                      const int32_t *bias, const void *scale,
                                                      int8_t *ring, int8_t *output) {
    struct LINE(operands) operands = {weights, bias, scale};
    LINE(convolution)(shape, input, operands, NULL, ring, output);
}

#undef LINE
#undef LINE_SHAPE
#undef LINE_ELEMENT
#undef LINE_PAD
#undef LINE_BLOCK
#undef LINE_HELD
