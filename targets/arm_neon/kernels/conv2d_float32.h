/* float32 convolution and fully connected layers by fused multiply-add. */
#ifndef ARM_NEON_CONV2D_FLOAT32_H
#define ARM_NEON_CONV2D_FLOAT32_H

#include "arm_neon/kernels/simd.h"
#include "simd/kernels/conv2d_shape.h"
#include "simd/kernels/names.h"

#define SIMD(name) neon_##name
#define SIMD_KERNEL(name, form) name##__arm_neon##form
#define SIMD_LANES 4
/* 32 registers: sums, weights and activations. */
#define TILE_ROWS(columns) ((columns) == 1 ? 8 : 5)
#define TILE_COLUMNS 4
#include "simd/kernels/conv2d_float32_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
