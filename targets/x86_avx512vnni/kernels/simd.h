/* The primitives of the shared SIMD bodies in AVX-512 with VNNI: 16 lanes of 32 bits. */
#ifndef X86_AVX512VNNI_SIMD_H
#define X86_AVX512VNNI_SIMD_H

#include "kernel.h"
#include "x86_avx/kernels/simd.h"

typedef __m512i avx512_i32;
typedef __m512 avx512_f32;

#define avx512_copy avx2_copy

KILN_INLINE avx512_i32 avx512_load_i32(const int32_t *from) {
    return _mm512_loadu_si512(from);
}

/* Activations are read as unsigned: 128 more than they are, which the bias makes good. */
#define AVX512_INPUT_XOR 0x80

/* Four activations of one pixel, in every lane. */
typedef __m512i avx512_quad;

KILN_INLINE avx512_quad avx512_broadcast_quad(const int8_t *from, int32_t narrow) {
    (void)narrow;
    int32_t bits;
    memcpy(&bits, from, sizeof bits);
    return _mm512_xor_si512(_mm512_set1_epi32(bits), _mm512_set1_epi8((char)AVX512_INPUT_XOR));
}

/* Four activations for each lane, which avx512_interleave_quads made unsigned. */
KILN_INLINE avx512_quad avx512_load_quads(const int8_t *from, int32_t narrow) {
    (void)narrow;
    return _mm512_loadu_si512(from);
}

/* Four int8 weights per lane. */
typedef __m512i avx512_weights;

KILN_INLINE avx512_weights avx512_load_weights(const int8_t *from, int32_t narrow) {
    (void)narrow;
    return _mm512_loadu_si512(from);
}

/* sum + the four products of each lane. As an instruction: gcc 12 spills the intrinsic's sums. */
KILN_INLINE avx512_i32 avx512_dot(avx512_i32 sum, avx512_quad quad, avx512_weights weights,
                                  int32_t narrow) {
    (void)narrow;
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(quad), "v"(weights));
    return sum;
}

KILN_INLINE avx512_i32 avx512_shift_left(avx512_i32 a, avx512_i32 bits) {
    return _mm512_sllv_epi32(a, bits);
}

/* As avx2_requantize_tflite. */
KILN_INLINE avx512_i32 avx512_requantize_tflite(avx512_i32 value, avx512_i32 multiplier,
                                                avx512_i32 right, avx512_i32 offset) {
    const __m512i nudge = _mm512_set1_epi64((int64_t)1 << 30);
    __m512i even = _mm512_mul_epi32(value, multiplier);
    __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(value, 32), _mm512_srli_epi64(multiplier, 32));
    even = _mm512_srli_epi64(_mm512_add_epi64(even, nudge), 31);
    odd = _mm512_slli_epi64(_mm512_add_epi64(odd, nudge), 1);
    __m512i high = _mm512_mask_blend_epi32(0xAAAA, even, odd);
    __mmask16 shifts = _mm512_test_epi32_mask(right, right);
    __m512i negative = _mm512_maskz_srai_epi32(shifts, high, 31);
    return _mm512_srav_epi32(_mm512_add_epi32(_mm512_add_epi32(high, offset), negative), right);
}

/* As avx2_requantize_single. */
KILN_INLINE avx512_i32 avx512_requantize_single(avx512_i32 value, avx512_i32 multiplier,
                                                avx512_i32 right, avx512_i32 offset) {
    __m512i even = _mm512_mul_epi32(value, multiplier);
    __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(value, 32), _mm512_srli_epi64(multiplier, 32));
    __m512i high =
        _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 31), _mm512_slli_epi64(odd, 1));
    return _mm512_srav_epi32(_mm512_add_epi32(high, offset), right);
}

/* rint(accumulator * scale), ties to even, where that fits 32 bits. */
KILN_INLINE avx512_i32 avx512_requantize_fast(avx512_i32 accumulator, const float *scale) {
    __m512 real = _mm512_mul_ps(_mm512_cvtepi32_ps(accumulator), _mm512_loadu_ps(scale));
    return _mm512_cvtps_epi32(real);
}

/* As avx2_requantize_line. */
KILN_INLINE avx512_i32 avx512_requantize_line(avx512_i32 accumulator, const float *slope,
                                              const float *offset, int32_t by_sign) {
    __m512 real = _mm512_cvtepi32_ps(accumulator), added = _mm512_loadu_ps(offset);
    if (by_sign)
        added = _mm512_xor_ps(added, _mm512_and_ps(real, _mm512_set1_ps(-0.0f)));
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(real, _mm512_loadu_ps(slope), added));
}

KILN_INLINE avx512_i32 avx512_add_i32(avx512_i32 a, int32_t b) {
    return _mm512_add_epi32(a, _mm512_set1_epi32(b));
}

KILN_INLINE avx512_i32 avx512_set_i32(int32_t value) {
    return _mm512_set1_epi32(value);
}

/* a + b or, where `sign` is -1, a - b. */
KILN_INLINE avx512_i32 avx512_add_signed_i32(avx512_i32 a, avx512_i32 b, int32_t sign) {
    return sign < 0 ? _mm512_sub_epi32(a, b) : _mm512_add_epi32(a, b);
}

KILN_INLINE avx512_i32 avx512_widen_int8(const int8_t *from) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
}

KILN_INLINE avx512_f32 avx512_scaled_f32(avx512_i32 a, float scale) {
    return _mm512_mul_ps(_mm512_cvtepi32_ps(a), _mm512_set1_ps(scale));
}

#define avx512_max_bytes avx2_max_bytes
#define avx512_load_max_bytes avx2_load_max_bytes
#define avx512_join_max_bytes avx2_join_max_bytes
#define avx512_store_max_bytes avx2_store_max_bytes

KILN_INLINE avx512_f32 avx512_to_f32(avx512_i32 a) {
    return _mm512_cvtepi32_ps(a);
}

/* As avx2_round_nudged. */
KILN_INLINE avx512_i32 avx512_round_nudged(avx512_f32 value, float nudge) {
    if (nudge != 0) {
        __m512 sign = _mm512_and_ps(value, _mm512_set1_ps(-0.0f));
        value = _mm512_add_ps(value, _mm512_or_ps(sign, _mm512_set1_ps(nudge)));
    }
    return _mm512_cvtps_epi32(value);
}

/* rint(a + b), ties to even, where that fits 32 bits. */
KILN_INLINE avx512_i32 avx512_round_sum_f32(avx512_f32 a, avx512_f32 b) {
    return _mm512_cvtps_epi32(_mm512_add_ps(a, b));
}

/* 64 lanes as int8, saturated and clamped; within 128 bits, so four lanes of each vector. */
KILN_INLINE __m512i avx512_narrow(avx512_i32 a, avx512_i32 b, avx512_i32 c, avx512_i32 d,
                                  int32_t low, int32_t high) {
    __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    bytes = _mm512_max_epi8(bytes, _mm512_set1_epi8((char)low));
    return _mm512_min_epi8(bytes, _mm512_set1_epi8((char)high));
}

KILN_INLINE void avx512_store_bytes(int8_t *to, __m512i bytes, int32_t valid) {
    if (valid == 64) {
        _mm512_storeu_si512(to, bytes);
    } else if (valid == 32) {
        _mm256_storeu_si256((__m256i *)(void *)to, _mm512_castsi512_si256(bytes));
    } else if (valid == 16) {
        _mm_storeu_si128((__m128i *)(void *)to, _mm512_castsi512_si128(bytes));
    } else {
        _mm512_mask_storeu_epi8(to, ((uint64_t)1 << valid) - 1, bytes);
    }
}

/* The first `valid` lanes of one to four vectors as int8, saturated and clamped. */
KILN_INLINE void avx512_store_int8(int8_t *to, const avx512_i32 *values, int32_t columns,
                                   int32_t low, int32_t high, int32_t valid) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const int32_t last = columns - 1;
    avx512_i32 b = values[last < 1 ? last : 1], c = values[last < 2 ? last : 2];
    __m512i bytes = avx512_narrow(values[0], b, c, values[last], low, high);
    avx512_store_bytes(to, _mm512_permutexvar_epi32(order, bytes), valid);
}

/* The bytes of four sources beside each other: [a0 b0 c0 d0 a1 ...], 64 of each, made unsigned.
 * Vector v, part L, lane e of the result is element 16 * L + 4 * v + e, which
 * avx512_store_int8_block undoes. */
KILN_INLINE void avx512_interleave_quads(const int8_t *a, const int8_t *b, const int8_t *c,
                                         const int8_t *d, int8_t *to) {
    const __m512i flip = _mm512_set1_epi8((char)AVX512_INPUT_XOR);
    __m512i va = _mm512_xor_si512(_mm512_loadu_si512(a), flip);
    __m512i vb = _mm512_xor_si512(_mm512_loadu_si512(b), flip);
    __m512i vc = _mm512_xor_si512(_mm512_loadu_si512(c), flip);
    __m512i vd = _mm512_xor_si512(_mm512_loadu_si512(d), flip);
    __m512i ab_low = _mm512_unpacklo_epi8(va, vb), ab_high = _mm512_unpackhi_epi8(va, vb);
    __m512i cd_low = _mm512_unpacklo_epi8(vc, vd), cd_high = _mm512_unpackhi_epi8(vc, vd);
    _mm512_storeu_si512(to, _mm512_unpacklo_epi16(ab_low, cd_low));
    _mm512_storeu_si512(to + 64, _mm512_unpackhi_epi16(ab_low, cd_low));
    _mm512_storeu_si512(to + 128, _mm512_unpacklo_epi16(ab_high, cd_high));
    _mm512_storeu_si512(to + 192, _mm512_unpackhi_epi16(ab_high, cd_high));
}

/* Four vectors in the order of avx512_interleave_quads: the first `valid` (1..64) elements. */
KILN_INLINE void avx512_store_int8_block(int8_t *to, const avx512_i32 *values, int32_t low,
                                         int32_t high, int32_t valid) {
    __m512i bytes = avx512_narrow(values[0], values[1], values[2], values[3], low, high);
    avx512_store_bytes(to, bytes, valid);
}

KILN_INLINE avx512_f32 avx512_load_f32(const float *from) {
    return _mm512_loadu_ps(from);
}
KILN_INLINE avx512_f32 avx512_broadcast_f32(const float *from) {
    return _mm512_set1_ps(*from);
}

/* sum + a * b, rounded once. */
KILN_INLINE avx512_f32 avx512_multiply_add(avx512_f32 sum, avx512_f32 a, avx512_f32 b) {
    return _mm512_fmadd_ps(a, b, sum);
}

/* `value` in every lane, computed here and not earlier, as avx2_set_f32. */
KILN_INLINE avx512_f32 avx512_set_f32(float value) {
    __m512 lanes = _mm512_set1_ps(value);
    __asm__ volatile("" : "+v"(lanes));
    return lanes;
}

KILN_INLINE avx512_f32 avx512_clamp_f32(avx512_f32 value, avx512_f32 low, avx512_f32 high) {
    return _mm512_min_ps(_mm512_max_ps(value, low), high);
}

/* The first `count` (1..16) lanes. */
KILN_INLINE void avx512_store_f32(float *to, avx512_f32 value, int32_t count) {
    if (count == 16) {
        _mm512_storeu_ps(to, value);
    } else {
        _mm512_mask_storeu_ps(to, (__mmask16)((1u << count) - 1), value);
    }
}

/* As avx2_quantize_f32. */
KILN_INLINE avx512_i32 avx512_quantize_f32(avx512_f32 real, float scale, int32_t zero_point) {
    const __m512 low = _mm512_set1_ps((float)(-128 - zero_point));
    const __m512 high = _mm512_set1_ps((float)(127 - zero_point));
    __m512 steps = _mm512_div_ps(real, _mm512_set1_ps(scale));
    __mmask16 is_nan = _mm512_cmp_ps_mask(steps, steps, _CMP_UNORD_Q);
    steps = _mm512_min_ps(_mm512_max_ps(steps, low), high);
    steps = _mm512_mask_mov_ps(steps, is_nan, _mm512_set1_ps((float)-zero_point));
    __m512 half =
        _mm512_or_ps(_mm512_and_ps(steps, _mm512_set1_ps(-0.0f)), _mm512_set1_ps(0x1.fffffep-2f));
    return avx512_add_i32(_mm512_cvttps_epi32(_mm512_add_ps(steps, half)), zero_point);
}

#define SIMD(name) avx512_##name
#include "simd/kernels/requantize_body.h"
#undef SIMD

#endif
