/* float32 convolution and fully connected layers by fused multiply-add. */
#ifndef X86_AVX512VNNI_CONV2D_FLOAT32_H
#define X86_AVX512VNNI_CONV2D_FLOAT32_H

#include "simd/kernels/conv2d_shape.h"
#include "simd/kernels/names.h"
#include "x86_avx512vnni/kernels/simd.h"

#define SIMD(name) avx512_##name
#define SIMD_KERNEL(name, form) name##__x86_avx512vnni##form
#define SIMD_LANES 16
/* 32 registers: sums, weights and one activation. */
#define TILE_ROWS(columns) ((columns) < 3 ? 12 : (columns) == 3 ? 8 : 6)
#define TILE_COLUMNS 4
#include "simd/kernels/conv2d_float32_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
