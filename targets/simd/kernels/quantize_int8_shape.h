/* The shape of quantize and dequantize: what targets/simd/elementwise.py fills. */
#ifndef SIMD_QUANTIZE_INT8_SHAPE_H
#define SIMD_QUANTIZE_INT8_SHAPE_H

#include "kernel.h"

struct simd_quantize_int8_shape {
    int32_t count;
    float scale;
    int32_t zero_point;
};

#endif
