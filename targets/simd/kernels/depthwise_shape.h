/* The shape of a depthwise convolution in flat rows: what targets/simd/depthwise.py fills. */
#ifndef SIMD_DEPTHWISE_SHAPE_H
#define SIMD_DEPTHWISE_SHAPE_H

#include "simd/kernels/requantization.h"

/* Pixels and channels of a row are one flat sequence: element i has channel i % channels, and its
 * taps are at i, i + channels, ... of the padded row. Constants repeat after `period` vectors (or
 * blocks of vectors), the least whole number of them that is whole pixels. */
#define SIMD_DEPTHWISE_MEMBERS                                                                     \
    int32_t batch;                                                                                 \
    int32_t input_height, input_width, channels;                                                   \
    int32_t output_height, output_width;                                                           \
    int32_t kernel_height, kernel_width;                                                           \
    int32_t stride_y, stride_x, dilation_y, dilation_x;                                            \
    int32_t pad_top, pad_left;                                                                     \
    int32_t pixels_per_block; /* output pixels of a row that are made from top to bottom */        \
    int32_t period;                                                                                \
    int32_t line_elements; /* of a padded row of one phase */                                      \
    int32_t slot_elements; /* of a row in the ring */

struct simd_depthwise_int8_shape {
    SIMD_DEPTHWISE_MEMBERS
    struct simd_requantization output;
    int32_t input_zero_point;
    int32_t narrow_weights; /* whether no weight is -128 */
};

struct simd_depthwise_float32_shape {
    SIMD_DEPTHWISE_MEMBERS
    float clamp_low, clamp_high;
};

enum { SIMD_DEPTHWISE_ROWS = 16 }; /* the highest kernel */

#endif
