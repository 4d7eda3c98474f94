/* int8 convolution and fully connected layers by vpdpbusd. */
#ifndef X86_AVXVNNI_CONV2D_INT8_H
#define X86_AVXVNNI_CONV2D_INT8_H

#include "simd/kernels/conv2d_shape.h"
#include "simd/kernels/names.h"
#include "x86_avxvnni/kernels/simd.h"

#define SIMD(name) avxvnni_##name
#define SIMD_KERNEL(name, form) name##__x86_avxvnni##form
#define SIMD_LANES 8
/* 16 registers: sums, weights, an activation and the sign that it is given. */
#define TILE_ROWS(columns) ((columns) == 1 ? 10 : 5)
#define TILE_COLUMNS 2
#include "simd/kernels/conv2d_int8_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
