/* The primitives of the shared SIMD bodies in AVX-VNNI: those of AVX2, with another dot product. */
#ifndef X86_AVXVNNI_SIMD_H
#define X86_AVXVNNI_SIMD_H

#include "x86_avx/kernels/simd.h"

typedef avx2_i32 avxvnni_i32;

#define avxvnni_copy avx2_copy
#define avxvnni_load_i32 avx2_load_i32
#define avxvnni_add_i32 avx2_add_i32
#define avxvnni_shift_left avx2_shift_left
#define avxvnni_requantize_tflite avx2_requantize_tflite
#define avxvnni_requantize_single avx2_requantize_single
#define avxvnni_requantize_fast avx2_requantize_fast
#define avxvnni_requantize_line avx2_requantize_line
#define avxvnni_store_int8 avx2_store_int8
#define avxvnni_store_int8_block avx2_store_int8_block

/* Activations are read as unsigned: 128 more than they are, which the bias makes good. */
#define AVXVNNI_INPUT_XOR 0x80

KILN_INLINE __m256i avxvnni_flip(__m256i bytes) {
    return _mm256_xor_si256(bytes, _mm256_set1_epi8((char)AVXVNNI_INPUT_XOR));
}

/* Four activations of one pixel, in every lane. */
typedef __m256i avxvnni_quad;

KILN_INLINE avxvnni_quad avxvnni_broadcast_quad(const int8_t *from, int32_t narrow) {
    (void)narrow;
    int32_t bits;
    memcpy(&bits, from, sizeof bits);
    return avxvnni_flip(_mm256_set1_epi32(bits));
}

/* Four activations for each lane. */
KILN_INLINE avxvnni_quad avxvnni_load_quads(const int8_t *from, int32_t narrow) {
    (void)narrow;
    return avxvnni_flip(_mm256_loadu_si256((const __m256i *)(const void *)from));
}

#define avxvnni_interleave_quads avx2_interleave_quads

/* Four int8 weights per lane. */
typedef __m256i avxvnni_weights;

KILN_INLINE avxvnni_weights avxvnni_load_weights(const int8_t *from, int32_t narrow) {
    (void)narrow;
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* sum + the four products of each lane. As an instruction: gcc 12 spills the intrinsic's sums. */
KILN_INLINE avxvnni_i32 avxvnni_dot(avxvnni_i32 sum, avxvnni_quad quad, avxvnni_weights weights,
                                    int32_t narrow) {
    (void)narrow;
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(quad), "x"(weights));
    return sum;
}

#define SIMD(name) avxvnni_##name
#include "simd/kernels/requantize_body.h"
#undef SIMD

#endif
