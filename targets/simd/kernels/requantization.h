/* How int8 kernels make outputs from accumulators: what targets/simd/packing.py fills. */
#ifndef SIMD_REQUANTIZATION_H
#define SIMD_REQUANTIZATION_H

#include "kernel.h"

/* The scale of `fast` is float32[channels], else four rows of int32[channels]: multiplier, right
 * shift, offset (added before that shift) and left shift. */
struct simd_requantization {
    int32_t rounding;    /* enum kiln_rounding */
    int32_t shifts_left; /* whether any channel does */
    int32_t zero_point;  /* of the output, where the offset does not hold it; else 0 */
    int32_t clamp_low, clamp_high;
};

#endif
