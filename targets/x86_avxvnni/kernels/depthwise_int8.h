/* int8 depthwise convolution by dot products of four taps. */
#ifndef X86_AVXVNNI_DEPTHWISE_INT8_H
#define X86_AVXVNNI_DEPTHWISE_INT8_H

#include "simd/kernels/depthwise_shape.h"
#include "simd/kernels/names.h"
#include "x86_avxvnni/kernels/simd.h"

#define SIMD(name) avxvnni_##name
#define SIMD_KERNEL(name, form) name##__x86_avxvnni##form
#define SIMD_LANES 8
#define SIMD_INPUT_XOR 0
#include "simd/kernels/depthwise_quads_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES
#undef SIMD_INPUT_XOR

#endif
