/* int8 depthwise convolution by smull and smlal, two taps at a time. */
#ifndef ARM_NEON_DEPTHWISE_INT8_H
#define ARM_NEON_DEPTHWISE_INT8_H

#include "arm_neon/kernels/simd.h"
#include "simd/kernels/depthwise_shape.h"
#include "simd/kernels/names.h"

#define SIMD(name) neon_##name
#define SIMD_KERNEL(name, form) name##__arm_neon##form
#define SIMD_LANES 4
#include "simd/kernels/depthwise_taps_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
