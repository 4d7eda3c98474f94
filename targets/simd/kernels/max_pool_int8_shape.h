/* The shape of a max pooling: what targets/simd/pooling.py fills. */
#ifndef SIMD_MAX_POOL_INT8_SHAPE_H
#define SIMD_MAX_POOL_INT8_SHAPE_H

#include "reference/kernels/window.h"

struct simd_max_pool_int8_shape {
    KILN_WINDOW_MEMBERS
    int32_t clamp_low, clamp_high;
};

#endif
