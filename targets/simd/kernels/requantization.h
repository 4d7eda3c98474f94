/* How int8 kernels make outputs from accumulators: what targets/simd/requantization.py fills. */
#ifndef SIMD_REQUANTIZATION_H
#define SIMD_REQUANTIZATION_H

#include "kernel.h"

/* Numerics tflite by a line that was proved to be the same; see targets/simd/straight_line.py. */
enum { SIMD_ROUND_LINE = 16 };

/* The scale of `fast` is float32[channels], that of a line two rows of it: slope and offset. Else
 * it is four rows of int32[channels]: multiplier, right shift, offset (added before that shift)
 * and left shift. */
struct simd_requantization {
    int32_t rounding;     /* enum kiln_rounding, or SIMD_ROUND_LINE */
    int32_t shifts_left;  /* whether any channel does */
    int32_t line_by_sign; /* whether the line's offset is negated where the sum is negative */
    int32_t zero_point;   /* of the output, where the offset does not hold it; else 0 */
    int32_t clamp_low, clamp_high;
};

#endif
