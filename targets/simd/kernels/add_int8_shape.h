/* The shape of a sum of two int8 tensors: what targets/simd/elementwise.py fills. */
#ifndef SIMD_ADD_INT8_SHAPE_H
#define SIMD_ADD_INT8_SHAPE_H

#include "kernel.h"

/* The members mean what they do in struct add_integer_shape of the reference target. */
struct simd_add_int8_shape {
    int32_t count;
    int32_t a_zero_point, b_zero_point, output_zero_point;
    int32_t clamp_low, clamp_high;
    int32_t rounding; /* enum kiln_rounding */
    int32_t left_shift, b_sign;
    int32_t a_multiplier, a_right, b_multiplier, b_right, output_multiplier, output_right;
    float a_scale, b_scale;
};

#endif
