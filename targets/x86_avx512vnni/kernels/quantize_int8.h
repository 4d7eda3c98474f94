/* float32 to int8 and back. */
#ifndef X86_AVX512VNNI_QUANTIZE_INT8_H
#define X86_AVX512VNNI_QUANTIZE_INT8_H

#include "x86_avx512vnni/kernels/simd.h"
#include "simd/kernels/quantize_int8_shape.h"
#include "simd/kernels/names.h"

#define SIMD(name) avx512_##name
#define SIMD_KERNEL(name, form) name##__x86_avx512vnni##form
#define SIMD_LANES 16
#define QUANTIZE_VECTORS 4
#include "simd/kernels/quantize_int8_body.h"
#undef SIMD
#undef SIMD_KERNEL
#undef SIMD_LANES

#endif
