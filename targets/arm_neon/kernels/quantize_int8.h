/* float32 to int8 and back. */
#ifndef ARM_NEON_QUANTIZE_INT8_H
#define ARM_NEON_QUANTIZE_INT8_H

#include "arm_neon/kernels/simd.h"
#include "simd/kernels/quantize_int8_shape.h"
#include "simd/kernels/names.h"

#define SIMD(name) neon_##name
#define SIMD_KERNEL(name, form) name##__arm_neon##form
#define SIMD_LANES 4
#define QUANTIZE_VECTORS 4
#include "simd/kernels/quantize_int8_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
