/* float32 convolution, output channels in lanes: a template that is included once per instruction
 * set. Expects SIMD(name), SIMD_KERNEL(name, form), SIMD_LANES and the TILE_ROWS and TILE_COLUMNS
 * that fit its registers; undefines the TILE_ ones. */

#define TILE(name) SIMD(conv2d_float32_##name)
#define TILE_SHAPE simd_conv2d_float32_shape
#define TILE_ELEMENT float
#define TILE_PAD(shape) 0
#define TILE_STEP 1
#define TILE_MOST_ROWS 16
#include "simd/kernels/conv2d_loops.h"

/* rows x (columns * lanes) outputs, accumulated in registers. `channel` is the first of them,
 * `valid` how many of the channels exist. */
KILN_INLINE void TILE(tile)(const struct TILE_SHAPE *s, struct TILE(operands) operands,
                            int32_t rows, int32_t columns, const float *from, int32_t pitch,
                            int32_t channel, float *to, int32_t valid) {
    SIMD(f32) sums[TILE_MOST_ROWS][TILE_COLUMNS];
    const int32_t step_in = s->stride_x * s->input_channels;
    const int32_t runs = s->dilation_x == 1 ? 1 : s->kernel_width;
    const int32_t steps = TILE(run_steps)(s);
    const float *weights = operands.weights;
    SIMD_UNROLL
    for (int32_t c = 0; c < columns; c++) {
        SIMD(f32) bias = SIMD(load_f32)((const float *)operands.bias + channel + c * SIMD_LANES);
        SIMD_UNROLL
        for (int32_t r = 0; r < rows; r++)
            sums[r][c] = bias;
    }
    for (int32_t ky = 0; ky < s->kernel_height; ky++) {
        for (int32_t run = 0; run < runs; run++) {
            const float *x =
                from + ky * s->dilation_y * pitch + run * s->dilation_x * s->input_channels;
            SIMD_NO_UNROLL
            for (int32_t k = 0; k < steps; k++, x++, weights += columns * SIMD_LANES) {
                SIMD(f32) w[TILE_COLUMNS];
                SIMD_UNROLL
                for (int32_t c = 0; c < columns; c++)
                    w[c] = SIMD(load_f32)(weights + c * SIMD_LANES);
                SIMD_UNROLL
                for (int32_t r = 0; r < rows; r++) {
                    SIMD(f32) value = SIMD(broadcast_f32)(x + r * step_in);
                    SIMD_UNROLL
                    for (int32_t c = 0; c < columns; c++)
                        sums[r][c] = SIMD(multiply_add)(sums[r][c], value, w[c]);
                }
            }
        }
    }
    const SIMD(f32) low = SIMD(set_f32)(s->clamp_low), high = SIMD(set_f32)(s->clamp_high);
    SIMD_UNROLL
    for (int32_t r = 0; r < rows; r++, to += s->output_channels) {
        SIMD_UNROLL
        for (int32_t c = 0; c < columns; c++) {
            const int32_t left = valid - c * SIMD_LANES;
            SIMD(store_f32)
            (to + c * SIMD_LANES, SIMD(clamp_f32)(sums[r][c], low, high),
             left < SIMD_LANES ? left : SIMD_LANES);
        }
    }
}

/* Reads the input where it lies: no padding. */
KILN_KERNEL void SIMD_KERNEL(conv2d_float32, _direct)(const struct simd_conv2d_float32_shape *shape,
                                                      const float *input, const float *weights,
                                                      const float *bias, float *output) {
    struct TILE(operands) operands = {weights, bias, NULL};
    TILE(convolution)(shape, input, operands, NULL, output);
}

/* Reads rows that are copied to scratch with their padding. */
KILN_KERNEL void SIMD_KERNEL(conv2d_float32, )(const struct simd_conv2d_float32_shape *shape,
                                               const float *input, const float *weights,
                                               const float *bias, float *scratch, float *output) {
    struct TILE(operands) operands = {weights, bias, NULL};
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
