/* The shape of a sum of two int8 tensors: what targets/simd/elementwise.py fills. */
#ifndef SIMD_ADD_INT8_SHAPE_H
#define SIMD_ADD_INT8_SHAPE_H

#include "kernel.h"

/* Times multiplier / 2^31, to nearest, and with offset added / 2^right. */
struct simd_fixed_point {
    int32_t multiplier, right, offset;
};

/* Numerics tflite by a plane that was proved to be the same; see targets/simd/plane.py. */
enum { SIMD_SUM_PLANE = 16 };

/* tflite: each operand, shifted left, in the sum's scale; their sum in the output's, whose zero
 * point is in the offset. fast: scales are those of the operands over that of the output. Plane:
 * scales are of the operands with their zero points, which plane_offset makes good. */
struct simd_add_int8_shape {
    int32_t count;
    int32_t rounding; /* enum kiln_rounding, or SIMD_SUM_PLANE */
    int32_t a_zero_point, b_zero_point, output_zero_point;
    int32_t clamp_low, clamp_high;
    int32_t left_shift;
    int32_t b_sign; /* -1 to subtract */
    struct simd_fixed_point a, b, output;
    float a_scale, b_scale;
    float plane_offset;
    float plane_nudge; /* added to the size before it is rounded */
};

#endif
