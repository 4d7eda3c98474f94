/* What operators with weights share: shape members and dot products. */
#ifndef REFERENCE_WEIGHTED_H
#define REFERENCE_WEIGHTED_H

#include "reference/kernels/products.h"

/* Outputs that are accumulated side by side. */
#define KILN_TILE 16

/* input_zero_point is 0 where it is folded into the bias. */
#define KILN_INTEGER_MEMBERS                                                                       \
    int32_t input_zero_point, weight_zero_point, output_zero_point;                                \
    int32_t clamp_low, clamp_high; /* output integers */                                           \
    int32_t rounding;              /* enum kiln_rounding */

#define KILN_REAL_MEMBERS float clamp_low, clamp_high;

#endif
