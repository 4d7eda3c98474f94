/* Max pooling of int8 images. */
#ifndef X86_AVX_MAX_POOL_INT8_H
#define X86_AVX_MAX_POOL_INT8_H

#include "x86_avx/kernels/simd.h"
#include "simd/kernels/max_pool_int8_shape.h"

#define SIMD(name) avx2_##name
#define SIMD_KERNEL(name, form) name##__x86_avx##form
#define SIMD_BYTES 32
#include "simd/kernels/max_pool_int8_body.h"
#undef SIMD
#undef SIMD_KERNEL

#endif
