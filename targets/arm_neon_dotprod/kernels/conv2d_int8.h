/* int8 convolution and fully connected layers by sdot. */
#ifndef ARM_NEON_DOTPROD_CONV2D_INT8_H
#define ARM_NEON_DOTPROD_CONV2D_INT8_H

#include "arm_neon_dotprod/kernels/simd.h"
#include "simd/kernels/conv2d_shape.h"
#include "simd/kernels/names.h"

#define SIMD(name) neondot_##name
#define SIMD_KERNEL(name, form) name##__arm_neon_dotprod##form
#define SIMD_LANES 4
#define SIMD_QUADS
/* 32 registers: sums, activations of each pixel and a few weights. */
#define TILE_ROWS(columns) ((columns) < 3 ? 8 : (columns) == 3 ? 6 : 5)
#define TILE_COLUMNS 4
#include "simd/kernels/conv2d_int8_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES
#undef SIMD_QUADS

#endif
