/* int8 depthwise convolution by dot products of four taps: rows are prepared with four taps of a
 * row beside each other for each element. Expects SIMD(name), SIMD_KERNEL(name, form), SIMD_LANES,
 * and SIMD_INPUT_XOR: what SIMD(interleave_quads) does to the bytes.
 *
 *   slot:     [group of 4 taps][block][vector 0..3][lane][tap]   a block is 4 vectors of elements
 *   weights:  [block of the period][tap row][group][vector][lane][tap] */

#define LINE(name) SIMD(depthwise_int8_##name)
#define LINE_SHAPE simd_depthwise_int8_shape
#define LINE_ELEMENT int8_t
#define LINE_PAD(shape) (shape)->input_zero_point
#include "simd/kernels/depthwise_loops.h"

#define LINE_BLOCK (4 * SIMD_LANES)
#define LINE_HELD 3 /* tap rows whose weights stay in registers, where there are no more */

KILN_INLINE void LINE(prepare)(const struct LINE_SHAPE *s, const int8_t *image, int32_t y,
                               int32_t x0, int32_t pixels, int8_t *line, int8_t *slot) {
    const int32_t groups = (s->kernel_width + 3) / 4;
    const int32_t blocks = (pixels * s->channels + LINE_BLOCK - 1) / LINE_BLOCK;
    if (y < 0 || y >= s->input_height) {
        memset(slot, s->input_zero_point ^ SIMD_INPUT_XOR,
               (size_t)(groups * blocks * LINE_BLOCK * 4));
        return;
    }
    LINE(split)(s, image + y * s->input_width * s->channels, x0, pixels, line);
    for (int32_t g = 0; g < groups; g++) {
        const int8_t *taps[4];
        SIMD_UNROLL
        for (int32_t t = 0; t < 4; t++) {
            /* Taps past the last have zero weights. */
            const int32_t kx = 4 * g + t < s->kernel_width ? 4 * g + t : s->kernel_width - 1;
            taps[t] = line + LINE(tap_offset)(s, kx);
        }
        for (int32_t i = 0; i < blocks; i++, slot += LINE_BLOCK * 4) {
            SIMD(interleave_quads)
            (taps[0] + i * LINE_BLOCK, taps[1] + i * LINE_BLOCK, taps[2] + i * LINE_BLOCK,
             taps[3] + i * LINE_BLOCK, slot);
        }
    }
}

/* The outputs of one block; `held` has the weights where there are few. */
KILN_INLINE void LINE(block)(const struct LINE_SHAPE *s, struct LINE(operands) operands,
                             const int8_t *const *slots, int32_t at, int32_t blocks,
                             int32_t constants, SIMD(weights) (*held)[4], int8_t *to,
                             int32_t valid) {
    const int32_t groups = (s->kernel_width + 3) / 4, rows = s->kernel_height;
    const int32_t period = s->period * LINE_BLOCK, first = constants * LINE_BLOCK;
    const int8_t *weights = (const int8_t *)operands.weights + first * 4 * rows * groups;
    SIMD(i32) sums[4];
    SIMD_UNROLL
    for (int32_t v = 0; v < 4; v++)
        sums[v] = SIMD(load_i32)((const int32_t *)operands.bias + first + v * SIMD_LANES);
    SIMD_UNROLL
    for (int32_t k = 0; k < rows * groups; k++) {
        const int8_t *quads = slots[k / groups] + (k % groups * blocks + at) * LINE_BLOCK * 4;
        SIMD_UNROLL
        for (int32_t v = 0; v < 4; v++) {
            const int32_t offset = v * SIMD_LANES * 4;
            SIMD(weights)
            w = held != NULL
                    ? held[k][v]
                    : SIMD(load_weights)(weights + k * LINE_BLOCK * 4 + offset, s->narrow_weights);
            SIMD(quad) quad = SIMD(load_quads)(quads + offset, s->narrow_weights);
            sums[v] = SIMD(dot)(sums[v], quad, w, s->narrow_weights);
        }
    }
    SIMD_UNROLL
    for (int32_t v = 0; v < 4; v++) {
        sums[v] =
            SIMD(requantize)(&s->output, sums[v], operands.scale, period, first + v * SIMD_LANES);
    }
    SIMD(store_int8_block)(to, sums, s->output.clamp_low, s->output.clamp_high, valid);
}

KILN_INLINE void LINE(row)(const struct LINE_SHAPE *s, struct LINE(operands) operands,
                           const int8_t *const *slots, int32_t pixels, int8_t *to) {
    const int32_t taps = s->kernel_height * ((s->kernel_width + 3) / 4);
    const int32_t count = pixels * s->channels;
    const int32_t whole = count / LINE_BLOCK, blocks = (count + LINE_BLOCK - 1) / LINE_BLOCK;
    for (int32_t p = 0; p < s->period && p < blocks; p++) {
        SIMD(weights) held[LINE_HELD][4];
        const int32_t hold = taps <= LINE_HELD;
        if (hold) {
            const int8_t *weights = (const int8_t *)operands.weights + p * taps * LINE_BLOCK * 4;
            SIMD_UNROLL
            for (int32_t i = 0; i < taps * 4; i++)
                held[i / 4][i % 4] =
                    SIMD(load_weights)(weights + i * SIMD_LANES * 4, s->narrow_weights);
        }
        int32_t i = p;
        for (; i < whole; i += s->period) {
            LINE(block)
            (s, operands, slots, i, blocks, p, hold ? held : NULL, to + i * LINE_BLOCK, LINE_BLOCK);
        }
        if (i < blocks) {
            LINE(block)
            (s, operands, slots, i, blocks, p, hold ? held : NULL, to + i * LINE_BLOCK,
             count - whole * LINE_BLOCK);
        }
    }
}

KILN_KERNEL void SIMD_KERNEL(depthwise_conv2d_int8, )(const struct simd_depthwise_int8_shape *shape,
                                                      const int8_t *input, const int8_t *weights,
                                                      const int32_t *bias, const void *scale,
                                                      int8_t *line, int8_t *ring, int8_t *output) {
    struct LINE(operands) operands = {weights, bias, scale};
    LINE(convolution)(shape, input, operands, line, ring, output);
}

#undef LINE
#undef LINE_SHAPE
#undef LINE_ELEMENT
#undef LINE_PAD
#undef LINE_BLOCK
#undef LINE_HELD
