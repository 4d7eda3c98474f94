/* int8 depthwise convolution by dot products of four taps. */
#ifndef X86_AVX512VNNI_DEPTHWISE_INT8_H
#define X86_AVX512VNNI_DEPTHWISE_INT8_H

#include "simd/kernels/depthwise_shape.h"
#include "simd/kernels/names.h"
#include "x86_avx512vnni/kernels/simd.h"

#define SIMD(name) avx512_##name
#define SIMD_KERNEL(name, form) name##__x86_avx512vnni##form
#define SIMD_LANES 16
#define SIMD_INPUT_XOR AVX512_INPUT_XOR
#include "simd/kernels/depthwise_quads_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES
#undef SIMD_INPUT_XOR

#endif
