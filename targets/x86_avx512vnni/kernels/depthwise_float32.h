/* float32 depthwise convolution by fused multiply-add. */
#ifndef X86_AVX512VNNI_DEPTHWISE_FLOAT32_H
#define X86_AVX512VNNI_DEPTHWISE_FLOAT32_H

#include "simd/kernels/depthwise_shape.h"
#include "simd/kernels/names.h"
#include "x86_avx512vnni/kernels/simd.h"

#define SIMD(name) avx512_##name
#define SIMD_KERNEL(name, form) name##__x86_avx512vnni##form
#define SIMD_LANES 16
#include "simd/kernels/depthwise_float32_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
