/* int8 convolution, output channels in lanes, four inputs of a pixel at a time: a template that is
 * included once per instruction set. Expects SIMD(name), SIMD_LANES, SIMD_TARGET and the
 * TILE_ROWS and TILE_COLUMNS that fit its registers; undefines the TILE_ ones. SIMD_QUADS says that
 * SIMD(dot_quad) takes one of four quads of a vector. */

#define TILE(name) SIMD(conv2d_int8_##name)
#define TILE_SHAPE simd_conv2d_int8_shape
#define TILE_ELEMENT int8_t
#define TILE_PAD(shape) (shape)->input_zero_point
#define TILE_STEP 4
#define TILE_MOST_ROWS 16
#include "simd/kernels/conv2d_loops.h"

/* Accumulators of one pixel to outputs. */
KILN_INLINE void TILE(finish)(const struct TILE_SHAPE *s, struct TILE(operands) operands,
                              SIMD(i32) * sums, int32_t columns, int32_t channel, int8_t *to,
                              int32_t valid) {
    const int32_t padded = (s->output_channels + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES;
    SIMD_UNROLL
    for (int32_t c = 0; c < columns; c++) {
        sums[c] =
            SIMD(requantize)(&s->output, sums[c], operands.scale, padded, channel + c * SIMD_LANES);
    }
    SIMD(store_int8)(to, sums, columns, s->output.clamp_low, s->output.clamp_high, valid);
}

#ifdef SIMD_QUADS
/* Four steps of the inner loop: their inputs are one load of each pixel. */
KILN_INLINE void TILE(four_steps)(SIMD(i32) (*sums)[TILE_COLUMNS], int32_t rows, int32_t columns,
                                  const int8_t *x, int32_t step_in, const int8_t *weights) {
    SIMD(bytes) quads[TILE_MOST_ROWS];
    SIMD_UNROLL
    for (int32_t r = 0; r < rows; r++)
        quads[r] = SIMD(load_bytes)(x + r * step_in);
    SIMD_UNROLL
    for (int32_t k = 0; k < 4; k++) {
        SIMD_UNROLL
        for (int32_t c = 0; c < columns; c++) {
            SIMD(weights) w = SIMD(load_weights)(weights + (k * columns + c) * SIMD_LANES * 4, 1);
            SIMD_UNROLL
            for (int32_t r = 0; r < rows; r++)
                sums[r][c] = SIMD(dot_quad)(sums[r][c], quads[r], w, k);
        }
    }
}
#endif

/* rows x (columns * lanes) outputs, accumulated in registers. `channel` is the first of them,
 * `valid` how many of the channels exist. */
KILN_INLINE void TILE(tile)(const struct TILE_SHAPE *s, struct TILE(operands) operands,
                            int32_t rows, int32_t columns, const int8_t *from, int32_t pitch,
                            int32_t channel, int8_t *to, int32_t valid) {
    SIMD(i32) sums[TILE_MOST_ROWS][TILE_COLUMNS];
    const int32_t step_in = s->stride_x * s->input_channels;
    const int32_t runs = s->dilation_x == 1 ? 1 : s->kernel_width;
    const int32_t steps = TILE(run_steps)(s), narrow = s->narrow_weights;
    const int8_t *weights = operands.weights;
    SIMD_UNROLL
    for (int32_t c = 0; c < columns; c++) {
        SIMD(i32) bias = SIMD(load_i32)((const int32_t *)operands.bias + channel + c * SIMD_LANES);
        SIMD_UNROLL
        for (int32_t r = 0; r < rows; r++)
            sums[r][c] = bias;
    }
    for (int32_t ky = 0; ky < s->kernel_height; ky++) {
        for (int32_t run = 0; run < runs; run++) {
            const int8_t *x =
                from + ky * s->dilation_y * pitch + run * s->dilation_x * s->input_channels;
            int32_t k = 0;
#ifdef SIMD_QUADS
            SIMD_NO_UNROLL
            for (; k + 4 <= steps; k += 4, x += 16, weights += 4 * columns * SIMD_LANES * 4)
                TILE(four_steps)(sums, rows, columns, x, step_in, weights);
#endif
            SIMD_NO_UNROLL
            for (; k < steps; k++, x += 4, weights += columns * SIMD_LANES * 4) {
                SIMD(weights) w[TILE_COLUMNS];
                SIMD_UNROLL
                for (int32_t c = 0; c < columns; c++)
                    w[c] = SIMD(load_weights)(weights + c * SIMD_LANES * 4, narrow);
                SIMD_UNROLL
                for (int32_t r = 0; r < rows; r++) {
                    SIMD(quad) quad = SIMD(broadcast_quad)(x + r * step_in, narrow);
                    SIMD_UNROLL
                    for (int32_t c = 0; c < columns; c++)
                        sums[r][c] = SIMD(dot)(sums[r][c], quad, w[c], narrow);
                }
            }
        }
    }
    SIMD_UNROLL
    for (int32_t r = 0; r < rows; r++)
        TILE(finish)(s, operands, sums[r], columns, channel, to + r * s->output_channels, valid);
}

/* Reads the input where it lies: no padding, and runs of whole steps. */
KILN_KERNEL void SIMD_KERNEL(conv2d_int8, _direct)(const struct simd_conv2d_int8_shape *shape,
                                                   const int8_t *input, const int8_t *weights,
                                                   const int32_t *bias, const void *scale,
                                                   int8_t *output) {
    struct TILE(operands) operands = {weights, bias, scale};
    TILE(convolution)(shape, input, operands, NULL, output);
}

/* Reads rows that are copied to scratch with their padding. */
KILN_KERNEL void SIMD_KERNEL(conv2d_int8, )(const struct simd_conv2d_int8_shape *shape,
                                            const int8_t *input, const int8_t *weights,
                                            const int32_t *bias, const void *scale, int8_t *scratch,
                                            int8_t *output) {
    struct TILE(operands) operands = {weights, bias, scale};
    TILE(convolution)(shape, input, operands, scratch, output);
}

#undef TILE
#undef TILE_SHAPE
#undef TILE_ELEMENT
#undef TILE_PAD
#undef TILE_STEP
#undef TILE_MOST_ROWS
#undef TILE_ROWS
#undef TILE_COLUMNS
