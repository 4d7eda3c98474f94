/* 2-D convolution, grouped or not: NHWC activations, OHWI weights. */
#ifndef REFERENCE_CONV2D_H
#define REFERENCE_CONV2D_H

#include "reference/kernels/window.h"

/* input_zero_point is folded into the bias: taps outside the image read it. */
struct conv2d_integer_shape {
    KILN_WINDOW_MEMBERS
    int32_t groups;
    int32_t input_zero_point, weight_zero_point, output_zero_point;
    int32_t clamp_low, clamp_high;
    int32_t rounding; /* enum kiln_rounding */
};

#define KILN_CONV2D conv2d_int8__reference
#define KILN_INPUT int8_t
#define KILN_WEIGHT int8_t
#define KILN_OUTPUT int8_t
#include "reference/kernels/conv2d_integer_body.h"

#define KILN_CONV2D conv2d_uint8__reference
#define KILN_INPUT uint8_t
#define KILN_WEIGHT uint8_t
#define KILN_OUTPUT uint8_t
#include "reference/kernels/conv2d_integer_body.h"

#endif
