/* The shape of a convolution over channel-blocked weights: what targets/simd/convolution.py fills.
 */
#ifndef SIMD_CONV2D_SHAPE_H
#define SIMD_CONV2D_SHAPE_H

#include "simd/kernels/requantization.h"

/* A fully connected layer and a 1x1 convolution are one image of one row, batch * height * width
 * pixels wide. */
#define SIMD_CONV2D_MEMBERS                                                                        \
    int32_t batch;                                                                                 \
    int32_t input_height, input_width, input_channels;                                             \
    int32_t output_height, output_width, output_channels;                                          \
    int32_t kernel_height, kernel_width;                                                           \
    int32_t stride_y, stride_x, dilation_y, dilation_x;                                            \
    int32_t pad_top, pad_left;                                                                     \
    int32_t staged;           /* whether input rows are copied to scratch, padded */               \
    int32_t staged_width;     /* pixels of a staged row */                                         \
    int32_t rows_per_block;   /* output rows made from one staging */                              \
    int32_t pixels_per_block; /* output pixels of a row made before the next weights are taken */

struct simd_conv2d_int8_shape {
    SIMD_CONV2D_MEMBERS
    struct simd_requantization output;
    int32_t input_zero_point;
    int32_t narrow_weights; /* whether no weight is -128 */
};

struct simd_conv2d_float32_shape {
    SIMD_CONV2D_MEMBERS
    float clamp_low, clamp_high;
};

#endif
