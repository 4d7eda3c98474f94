/* float32 convolution and fully connected layers by fused multiply-add. */
#ifndef X86_AVX_CONV2D_FLOAT32_H
#define X86_AVX_CONV2D_FLOAT32_H

#include "simd/kernels/conv2d_shape.h"
#include "simd/kernels/names.h"
#include "x86_avx/kernels/simd.h"

#define SIMD(name) avx2_##name
#define SIMD_KERNEL(name, form) name##__x86_avx##form
#define SIMD_LANES 8
/* 16 registers: sums, weights and one activation. */
#define TILE_ROWS(columns) ((columns) == 1 ? 12 : 6)
#define TILE_COLUMNS 2
#include "simd/kernels/conv2d_float32_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
