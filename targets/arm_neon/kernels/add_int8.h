/* The sum of two int8 tensors. */
#ifndef ARM_NEON_ADD_INT8_H
#define ARM_NEON_ADD_INT8_H

#include "arm_neon/kernels/simd.h"
#include "simd/kernels/add_int8_shape.h"
#include "simd/kernels/names.h"

#define SIMD(name) neon_##name
#define SIMD_KERNEL(name, form) name##__arm_neon##form
#define SIMD_LANES 4
#define SUM_VECTORS 4
#include "simd/kernels/add_int8_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
