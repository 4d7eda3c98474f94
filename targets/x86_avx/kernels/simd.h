/* The primitives of the shared SIMD bodies in AVX2 and FMA: 8 lanes of 32 bits. */
#ifndef X86_AVX_SIMD_H
#define X86_AVX_SIMD_H

#include "kernel.h"
#include "simd/kernels/requantization.h"

#include <immintrin.h>
#include "memory.h"

typedef __m256i avx2_i32;
typedef __m256 avx2_f32;
enum { AVX2_LANES = 8 };

/* memcpy for a few dozen to a few thousand bytes; a call, or `rep movs`, takes longer to start. */
KILN_INLINE void avx2_copy(void *to, const void *from, int32_t bytes) {
    uint8_t *out = (uint8_t *)to;
    const uint8_t *in = (const uint8_t *)from;
    int32_t i = 0;
    for (; i + 32 <= bytes; i += 32) {
        __m256i value = _mm256_loadu_si256((const __m256i *)(const void *)(in + i));
        __asm__("" : "+x"(value)); /* or the loop becomes a call of memcpy again */
        _mm256_storeu_si256((__m256i *)(void *)(out + i), value);
    }
    if (i + 16 <= bytes) {
        _mm_storeu_si128((__m128i *)(void *)(out + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(in + i)));
        i += 16;
    }
    if (i + 8 <= bytes) {
        memcpy(out + i, in + i, 8);
        i += 8;
    }
    if (i + 4 <= bytes) {
        memcpy(out + i, in + i, 4);
        i += 4;
    }
    for (; i < bytes; i++)
        out[i] = in[i];
}

KILN_INLINE avx2_i32 avx2_load_i32(const int32_t *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* Four int8 activations of one pixel, in every lane: as they are and their sizes where no weight
 * is -128 (`narrow`), else the even and the odd ones as 16 bits. */
typedef struct avx2_quad {
    __m256i first, second;
} avx2_quad;

KILN_INLINE avx2_quad avx2_split_quads(__m256i value, int32_t narrow) {
    avx2_quad quad;
    quad.first = narrow ? value : _mm256_srai_epi16(_mm256_slli_epi16(value, 8), 8);
    quad.second = narrow ? _mm256_abs_epi8(value) : _mm256_srai_epi16(value, 8);
    return quad;
}

KILN_INLINE avx2_quad avx2_broadcast_quad(const int8_t *from, int32_t narrow) {
    int32_t bits;
    memcpy(&bits, from, sizeof bits);
    return avx2_split_quads(_mm256_set1_epi32(bits), narrow);
}

/* Four activations for each lane. */
KILN_INLINE avx2_quad avx2_load_quads(const int8_t *from, int32_t narrow) {
    return avx2_split_quads(_mm256_loadu_si256((const __m256i *)(const void *)from), narrow);
}

/* Four int8 weights per lane, held as the activations are. */
typedef struct avx2_weights {
    __m256i first, second;
} avx2_weights;

KILN_INLINE avx2_weights avx2_load_weights(const int8_t *from, int32_t narrow) {
    __m256i value = _mm256_loadu_si256((const __m256i *)(const void *)from);
    avx2_weights weights;
    weights.first = narrow ? value : _mm256_srai_epi16(_mm256_slli_epi16(value, 8), 8);
    weights.second = narrow ? value : _mm256_srai_epi16(value, 8);
    return weights;
}

/* sum + the four products of each lane. Narrow: two products are at most 2 * 128 * 127 in size,
 * which 16 bits hold. */
KILN_INLINE avx2_i32 avx2_dot(avx2_i32 sum, avx2_quad quad, avx2_weights weights, int32_t narrow) {
    if (narrow) {
        __m256i signed_weights = _mm256_sign_epi8(weights.first, quad.first);
        __m256i pairs = _mm256_maddubs_epi16(quad.second, signed_weights);
        pairs = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        sum = _mm256_add_epi32(sum, pairs);
        __asm__("" : "+x"(sum)); /* one register for the sum, before and after */
        return sum;
    }
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(quad.first, weights.first));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(quad.second, weights.second));
}

KILN_INLINE avx2_i32 avx2_shift_left(avx2_i32 a, avx2_i32 bits) {
    return _mm256_sllv_epi32(a, bits);
}

/* Every lane times multiplier / 2^31, to nearest, and then / 2^right, ties away from zero: as
 * kiln_multiply_quantized. `offset` is half of 2^right and what else is added before that shift;
 * no sum may overflow. */
KILN_INLINE avx2_i32 avx2_requantize_tflite(avx2_i32 value, avx2_i32 multiplier, avx2_i32 right,
                                            avx2_i32 offset) {
    const __m256i nudge = _mm256_set1_epi64x((int64_t)1 << 30);
    __m256i even = _mm256_mul_epi32(value, multiplier);
    __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(value, 32), _mm256_srli_epi64(multiplier, 32));
    even = _mm256_srli_epi64(_mm256_add_epi64(even, nudge), 31);
    odd = _mm256_slli_epi64(_mm256_add_epi64(odd, nudge), 1);
    __m256i high = _mm256_blend_epi32(even, odd, 0xAA);
    __m256i shifts = _mm256_cmpgt_epi32(right, _mm256_setzero_si256());
    __m256i negative = _mm256_srai_epi32(_mm256_and_si256(high, shifts), 31);
    return _mm256_srav_epi32(_mm256_add_epi32(_mm256_add_epi32(high, offset), negative), right);
}

/* value * multiplier / 2^31 rounded down, and with offset added / 2^right rounded down: with half
 * of 2^right in the offset, kiln_multiply_single. */
KILN_INLINE avx2_i32 avx2_requantize_single(avx2_i32 value, avx2_i32 multiplier, avx2_i32 right,
                                            avx2_i32 offset) {
    __m256i even = _mm256_mul_epi32(value, multiplier);
    __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(value, 32), _mm256_srli_epi64(multiplier, 32));
    __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xAA);
    return _mm256_srav_epi32(_mm256_add_epi32(high, offset), right);
}

/* rint(accumulator * scale), ties to even, where that fits 32 bits. */
KILN_INLINE avx2_i32 avx2_requantize_fast(avx2_i32 accumulator, const float *scale) {
    __m256 real = _mm256_mul_ps(_mm256_cvtepi32_ps(accumulator), _mm256_loadu_ps(scale));
    return _mm256_cvtps_epi32(real);
}

/* rint(accumulator * slope + offset), ties to even, rounded once before that. */
KILN_INLINE avx2_i32 avx2_requantize_line(avx2_i32 accumulator, const float *slope,
                                          const float *offset, int32_t by_sign) {
    __m256 real = _mm256_cvtepi32_ps(accumulator), added = _mm256_loadu_ps(offset);
    if (by_sign)
        added = _mm256_xor_ps(added, _mm256_and_ps(real, _mm256_set1_ps(-0.0f)));
    return _mm256_cvtps_epi32(_mm256_fmadd_ps(real, _mm256_loadu_ps(slope), added));
}

KILN_INLINE avx2_i32 avx2_add_i32(avx2_i32 a, int32_t b) {
    return _mm256_add_epi32(a, _mm256_set1_epi32(b));
}

KILN_INLINE __m128i avx2_clamp_bytes(__m128i bytes, int32_t low, int32_t high) {
    bytes = _mm_max_epi8(bytes, _mm_set1_epi8((char)low));
    return _mm_min_epi8(bytes, _mm_set1_epi8((char)high));
}

KILN_INLINE avx2_i32 avx2_set_i32(int32_t value) {
    return _mm256_set1_epi32(value);
}

/* a + b or, where `sign` is -1, a - b. */
KILN_INLINE avx2_i32 avx2_add_signed_i32(avx2_i32 a, avx2_i32 b, int32_t sign) {
    return sign < 0 ? _mm256_sub_epi32(a, b) : _mm256_add_epi32(a, b);
}

KILN_INLINE avx2_i32 avx2_widen_int8(const int8_t *from) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from));
}

KILN_INLINE avx2_f32 avx2_scaled_f32(avx2_i32 a, float scale) {
    return _mm256_mul_ps(_mm256_cvtepi32_ps(a), _mm256_set1_ps(scale));
}

/* 32 channels of a pooled pixel. */
typedef __m256i avx2_max_bytes;

KILN_INLINE avx2_max_bytes avx2_load_max_bytes(const int8_t *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

KILN_INLINE avx2_max_bytes avx2_join_max_bytes(avx2_max_bytes a, avx2_max_bytes b) {
    return _mm256_max_epi8(a, b);
}

KILN_INLINE void avx2_store_max_bytes(int8_t *to, avx2_max_bytes value, int32_t low, int32_t high) {
    value = _mm256_max_epi8(value, _mm256_set1_epi8((char)low));
    value = _mm256_min_epi8(value, _mm256_set1_epi8((char)high));
    _mm256_storeu_si256((__m256i *)(void *)to, value);
}

KILN_INLINE avx2_f32 avx2_to_f32(avx2_i32 a) {
    return _mm256_cvtepi32_ps(a);
}

/* rint of the value, `nudge` farther from zero, ties to even. */
KILN_INLINE avx2_i32 avx2_round_nudged(avx2_f32 value, float nudge) {
    if (nudge != 0) {
        __m256 sign = _mm256_and_ps(value, _mm256_set1_ps(-0.0f));
        value = _mm256_add_ps(value, _mm256_or_ps(sign, _mm256_set1_ps(nudge)));
    }
    return _mm256_cvtps_epi32(value);
}

/* rint(a + b), ties to even, where that fits 32 bits. */
KILN_INLINE avx2_i32 avx2_round_sum_f32(avx2_f32 a, avx2_f32 b) {
    return _mm256_cvtps_epi32(_mm256_add_ps(a, b));
}

/* 16 lanes as int8, saturated and clamped. */
KILN_INLINE __m128i avx2_narrow(avx2_i32 first, avx2_i32 second, int32_t low, int32_t high) {
    __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xD8);
    __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    bytes = _mm_max_epi8(bytes, _mm_set1_epi8((char)low));
    return _mm_min_epi8(bytes, _mm_set1_epi8((char)high));
}

/* The first `valid` lanes of one or two vectors as int8, saturated and clamped. */
KILN_INLINE void avx2_store_int8(int8_t *to, const avx2_i32 *values, int32_t columns, int32_t low,
                                 int32_t high, int32_t valid) {
    __m128i bytes = avx2_narrow(values[0], values[columns - 1], low, high);
    if (valid == 16) {
        _mm_storeu_si128((__m128i *)(void *)to, bytes);
    } else if (valid == 8) {
        _mm_storel_epi64((__m128i *)(void *)to, bytes);
    } else {
        int8_t buffer[16];
        _mm_storeu_si128((__m128i *)(void *)buffer, bytes);
        for (int32_t i = 0; i < valid; i++)
            to[i] = buffer[i];
    }
}

/* The bytes of four sources beside each other: [a0 b0 c0 d0 a1 ...], 32 of each. Vector v, half L,
 * lane e of the result is element 16 * L + 4 * v + e, which avx2_store_int8_block undoes. */
KILN_INLINE void avx2_interleave_quads(const int8_t *a, const int8_t *b, const int8_t *c,
                                       const int8_t *d, int8_t *to) {
    __m256i va = _mm256_loadu_si256((const __m256i *)(const void *)a);
    __m256i vb = _mm256_loadu_si256((const __m256i *)(const void *)b);
    __m256i vc = _mm256_loadu_si256((const __m256i *)(const void *)c);
    __m256i vd = _mm256_loadu_si256((const __m256i *)(const void *)d);
    __m256i ab_low = _mm256_unpacklo_epi8(va, vb), ab_high = _mm256_unpackhi_epi8(va, vb);
    __m256i cd_low = _mm256_unpacklo_epi8(vc, vd), cd_high = _mm256_unpackhi_epi8(vc, vd);
    __m256i *out = (__m256i *)(void *)to;
    _mm256_storeu_si256(out, _mm256_unpacklo_epi16(ab_low, cd_low));
    _mm256_storeu_si256(out + 1, _mm256_unpackhi_epi16(ab_low, cd_low));
    _mm256_storeu_si256(out + 2, _mm256_unpacklo_epi16(ab_high, cd_high));
    _mm256_storeu_si256(out + 3, _mm256_unpackhi_epi16(ab_high, cd_high));
}

/* Four vectors in the order of avx2_interleave_quads: the first `valid` (1..32) elements. */
KILN_INLINE void avx2_store_int8_block(int8_t *to, const avx2_i32 *values, int32_t low,
                                       int32_t high, int32_t valid) {
    __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(values[0], values[1]),
                                       _mm256_packs_epi32(values[2], values[3]));
    bytes = _mm256_max_epi8(bytes, _mm256_set1_epi8((char)low));
    bytes = _mm256_min_epi8(bytes, _mm256_set1_epi8((char)high));
    if (valid == 32) {
        _mm256_storeu_si256((__m256i *)(void *)to, bytes);
        return;
    }
    int8_t buffer[32];
    _mm256_storeu_si256((__m256i *)(void *)buffer, bytes);
    for (int32_t i = 0; i < valid; i++)
        to[i] = buffer[i];
}

KILN_INLINE avx2_f32 avx2_load_f32(const float *from) {
    return _mm256_loadu_ps(from);
}
KILN_INLINE avx2_f32 avx2_broadcast_f32(const float *from) {
    return _mm256_broadcast_ss(from);
}

/* sum + a * b, rounded once. */
KILN_INLINE avx2_f32 avx2_multiply_add(avx2_f32 sum, avx2_f32 a, avx2_f32 b) {
    return _mm256_fmadd_ps(a, b, sum);
}

/* `value` in every lane, computed here and not earlier: a compiler that takes it out of a loop
 * would have to spill a register of a tile. */
KILN_INLINE avx2_f32 avx2_set_f32(float value) {
    __m256 lanes = _mm256_set1_ps(value);
    __asm__ volatile("" : "+x"(lanes));
    return lanes;
}

KILN_INLINE avx2_f32 avx2_clamp_f32(avx2_f32 value, avx2_f32 low, avx2_f32 high) {
    return _mm256_min_ps(_mm256_max_ps(value, low), high);
}

/* The first `count` (1..8) lanes. */
KILN_INLINE void avx2_store_f32(float *to, avx2_f32 value, int32_t count) {
    if (count == 8) {
        _mm256_storeu_ps(to, value);
        return;
    }
    float buffer[8];
    _mm256_storeu_ps(buffer, value);
    for (int32_t i = 0; i < count; i++)
        to[i] = buffer[i];
}

/* round(real / scale) + zero_point, ties away from zero, saturated to int8; NaN becomes 0. */
KILN_INLINE avx2_i32 avx2_quantize_f32(avx2_f32 real, float scale, int32_t zero_point) {
    const __m256 low = _mm256_set1_ps((float)(-128 - zero_point));
    const __m256 high = _mm256_set1_ps((float)(127 - zero_point));
    __m256 steps = _mm256_div_ps(real, _mm256_set1_ps(scale));
    __m256 is_nan = _mm256_cmp_ps(steps, steps, _CMP_UNORD_Q);
    steps = _mm256_min_ps(_mm256_max_ps(steps, low), high);
    steps = _mm256_blendv_ps(steps, _mm256_set1_ps((float)-zero_point), is_nan);
    /* The largest float below one half: with half itself 0.49999997 would become 1. */
    __m256 half =
        _mm256_or_ps(_mm256_and_ps(steps, _mm256_set1_ps(-0.0f)), _mm256_set1_ps(0x1.fffffep-2f));
    return avx2_add_i32(_mm256_cvttps_epi32(_mm256_add_ps(steps, half)), zero_point);
}

#define SIMD(name) avx2_##name
#include "simd/kernels/requantize_body.h"
#undef SIMD

#endif
