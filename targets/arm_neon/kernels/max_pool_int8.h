/* Max pooling of int8 images. */
#ifndef ARM_NEON_MAX_POOL_INT8_H
#define ARM_NEON_MAX_POOL_INT8_H

#include "arm_neon/kernels/simd.h"
#include "simd/kernels/max_pool_int8_shape.h"

#define SIMD(name) neon_##name
#define SIMD_KERNEL(name, form) name##__arm_neon##form
#define SIMD_BYTES 16
#include "simd/kernels/max_pool_int8_body.h"
#undef SIMD
#undef SIMD_KERNEL

#endif
