/* The primitives of the shared SIMD bodies in NEON: 4 lanes of 32 bits, armv8.0-a. */
#ifndef ARM_NEON_SIMD_H
#define ARM_NEON_SIMD_H

#include "kernel.h"
#include "simd/kernels/requantization.h"

#include <arm_neon.h>
#include "memory.h"

typedef int32x4_t neon_i32;
typedef float32x4_t neon_f32;

/* memcpy for a few dozen to a few thousand bytes, without the call. */
KILN_INLINE void neon_copy(void *to, const void *from, int32_t bytes) {
    uint8_t *out = (uint8_t *)to;
    const uint8_t *in = (const uint8_t *)from;
    int32_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        uint8x16_t value = vld1q_u8(in + i);
        __asm__("" : "+w"(value)); /* or the loop becomes a call of memcpy again */
        vst1q_u8(out + i, value);
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

KILN_INLINE neon_i32 neon_load_i32(const int32_t *from) {
    return vld1q_s32(from);
}

/* Four int8 activations of one pixel, as two pairs, each in every lane. */
typedef struct neon_quad {
    int8x8_t first;
    int8x16_t second; /* its upper half is multiplied */
} neon_quad;

KILN_INLINE neon_quad neon_broadcast_quad(const int8_t *from, int32_t narrow) {
    (void)narrow;
    const int8_t(*four)[4] = (const int8_t(*)[4])(const void *)from;
    int16x4_t pairs;
    /* As an instruction, so that gcc does not carry activations over from step to step, in more
     * registers than there are. */
    __asm__("ldr %s0, %1" : "=w"(pairs) : "m"(*four));
    neon_quad quad;
    quad.first = vreinterpret_s8_s16(vdup_lane_s16(pairs, 0));
    quad.second = vreinterpretq_s8_s16(vdupq_lane_s16(pairs, 1));
    return quad;
}

/* Four int8 weights per lane: the first pair of all lanes, then the second. */
typedef int8x16_t neon_weights;

KILN_INLINE neon_weights neon_load_weights(const int8_t *from, int32_t narrow) {
    (void)narrow;
    return vld1q_s8(from);
}

/* sum + the four products of each lane. Narrow (no weight is -128): two products are at most
 * 2 * 128 * 127 in size, which 16 bits hold. */
KILN_INLINE neon_i32 neon_dot(neon_i32 sum, neon_quad quad, neon_weights weights, int32_t narrow) {
    int16x8_t products = vmull_s8(quad.first, vget_low_s8(weights));
    if (narrow) {
        products = vmlal_high_s8(products, quad.second, weights);
    } else {
        sum = vpadalq_s16(sum, products);
        products = vmull_high_s8(quad.second, weights);
    }
    sum = vpadalq_s16(sum, products);
    __asm__ volatile("" : "+w"(sum)); /* one register for the sum, before and after */
    return sum;
}

typedef int8x16_t neon_bytes;

KILN_INLINE neon_bytes neon_load_bytes(const int8_t *from) {
    return vld1q_s8(from);
}

KILN_INLINE void neon_add_products(neon_i32 *sums, int16x8_t low, int16x8_t high) {
    sums[0] = vaddw_s16(sums[0], vget_low_s16(low));
    sums[1] = vaddw_high_s16(sums[1], low);
    sums[2] = vaddw_s16(sums[2], vget_low_s16(high));
    sums[3] = vaddw_high_s16(sums[3], high);
}

/* sums[0..3] + x * w of 16 elements. */
KILN_INLINE void neon_multiply_bytes(neon_i32 *sums, neon_bytes x, neon_bytes w) {
    neon_add_products(sums, vmull_s8(vget_low_s8(x), vget_low_s8(w)), vmull_high_s8(x, w));
}

/* sums[0..3] + x0 * w0 + x1 * w1 of 16 elements; narrow as in neon_dot. */
KILN_INLINE void neon_multiply_byte_pairs(neon_i32 *sums, neon_bytes x0, neon_bytes w0,
                                          neon_bytes x1, neon_bytes w1, int32_t narrow) {
    if (!narrow) {
        neon_multiply_bytes(sums, x0, w0);
        neon_multiply_bytes(sums, x1, w1);
        return;
    }
    int16x8_t low = vmull_s8(vget_low_s8(x0), vget_low_s8(w0));
    int16x8_t high = vmull_high_s8(x0, w0);
    low = vmlal_s8(low, vget_low_s8(x1), vget_low_s8(w1));
    neon_add_products(sums, low, vmlal_high_s8(high, x1, w1));
}

KILN_INLINE neon_i32 neon_shift_left(neon_i32 a, neon_i32 bits) {
    return vshlq_s32(a, bits);
}

/* Every lane times multiplier / 2^31, to nearest, and then / 2^right, ties away from zero: as
 * kiln_multiply_quantized. `offset` is half of 2^right and what else is added before that shift;
 * no sum may overflow. */
KILN_INLINE neon_i32 neon_requantize_tflite(neon_i32 value, neon_i32 multiplier, neon_i32 right,
                                            neon_i32 offset) {
    int32x4_t high = vqrdmulhq_s32(value, multiplier), down = vnegq_s32(right);
    int32x4_t negative = vshrq_n_s32(vandq_s32(high, down), 31);
    return vshlq_s32(vaddq_s32(vaddq_s32(high, offset), negative), down);
}

/* value * multiplier / 2^31 rounded down, and with offset added / 2^right rounded down: with half
 * of 2^right in the offset, kiln_multiply_single. */
KILN_INLINE neon_i32 neon_requantize_single(neon_i32 value, neon_i32 multiplier, neon_i32 right,
                                            neon_i32 offset) {
    int32x4_t high = vqdmulhq_s32(value, multiplier);
    return vshlq_s32(vaddq_s32(high, offset), vnegq_s32(right));
}

/* rint(accumulator * scale), ties to even, where that fits 32 bits. */
KILN_INLINE neon_i32 neon_requantize_fast(neon_i32 accumulator, const float *scale) {
    return vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(accumulator), vld1q_f32(scale)));
}

/* rint(accumulator * slope + offset), ties to even, rounded once before that. */
KILN_INLINE neon_i32 neon_requantize_line(neon_i32 accumulator, const float *slope,
                                          const float *offset, int32_t by_sign) {
    float32x4_t real = vcvtq_f32_s32(accumulator), added = vld1q_f32(offset);
    if (by_sign) {
        uint32x4_t sign = vandq_u32(vreinterpretq_u32_f32(real), vdupq_n_u32((uint32_t)INT32_MIN));
        added = vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(added), sign));
    }
    return vcvtnq_s32_f32(vfmaq_f32(added, real, vld1q_f32(slope)));
}

KILN_INLINE neon_i32 neon_add_i32(neon_i32 a, int32_t b) {
    return vaddq_s32(a, vdupq_n_s32(b));
}

KILN_INLINE neon_i32 neon_set_i32(int32_t value) {
    return vdupq_n_s32(value);
}

/* a + b or, where `sign` is -1, a - b. */
KILN_INLINE neon_i32 neon_add_signed_i32(neon_i32 a, neon_i32 b, int32_t sign) {
    return sign < 0 ? vsubq_s32(a, b) : vaddq_s32(a, b);
}

KILN_INLINE neon_i32 neon_widen_int8(const int8_t *from) {
    const int8_t(*four)[4] = (const int8_t(*)[4])(const void *)from;
    int8x8_t bytes;
    __asm__("ldr %s0, %1" : "=w"(bytes) : "m"(*four));
    return vmovl_s16(vget_low_s16(vmovl_s8(bytes)));
}

KILN_INLINE neon_f32 neon_scaled_f32(neon_i32 a, float scale) {
    return vmulq_n_f32(vcvtq_f32_s32(a), scale);
}

/* 16 channels of a pooled pixel. */
typedef int8x16_t neon_max_bytes;

KILN_INLINE neon_max_bytes neon_load_max_bytes(const int8_t *from) {
    return vld1q_s8(from);
}

KILN_INLINE neon_max_bytes neon_join_max_bytes(neon_max_bytes a, neon_max_bytes b) {
    return vmaxq_s8(a, b);
}

KILN_INLINE void neon_store_max_bytes(int8_t *to, neon_max_bytes value, int32_t low, int32_t high) {
    value = vmaxq_s8(value, vdupq_n_s8((int8_t)low));
    vst1q_s8(to, vminq_s8(value, vdupq_n_s8((int8_t)high)));
}

KILN_INLINE neon_f32 neon_to_f32(neon_i32 a) {
    return vcvtq_f32_s32(a);
}

/* rint of the value, `nudge` farther from zero, ties to even. */
KILN_INLINE neon_i32 neon_round_nudged(neon_f32 value, float nudge) {
    if (nudge != 0) {
        float32x4_t away = vbslq_f32(vdupq_n_u32((uint32_t)INT32_MIN), value, vdupq_n_f32(nudge));
        value = vaddq_f32(value, away);
    }
    return vcvtnq_s32_f32(value);
}

/* rint(a + b), ties to even, where that fits 32 bits. */
KILN_INLINE neon_i32 neon_round_sum_f32(neon_f32 a, neon_f32 b) {
    return vcvtnq_s32_f32(vaddq_f32(a, b));
}

/* 16 lanes as int8, saturated and clamped. */
KILN_INLINE int8x16_t neon_narrow(neon_i32 a, neon_i32 b, neon_i32 c, neon_i32 d, int32_t low,
                                  int32_t high) {
    int16x8_t ab = vqmovn_high_s32(vqmovn_s32(a), b), cd = vqmovn_high_s32(vqmovn_s32(c), d);
    int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(ab), cd);
    bytes = vmaxq_s8(bytes, vdupq_n_s8((int8_t)low));
    return vminq_s8(bytes, vdupq_n_s8((int8_t)high));
}

KILN_INLINE void neon_store_bytes(int8_t *to, int8x16_t bytes, int32_t valid) {
    if (valid == 16) {
        vst1q_s8(to, bytes);
    } else if (valid == 8) {
        vst1_s8(to, vget_low_s8(bytes));
    } else {
        int8_t buffer[16];
        vst1q_s8(buffer, bytes);
        for (int32_t i = 0; i < valid; i++)
            to[i] = buffer[i];
    }
}

/* The first `valid` lanes of one to four vectors as int8, saturated and clamped. */
KILN_INLINE void neon_store_int8(int8_t *to, const neon_i32 *values, int32_t columns, int32_t low,
                                 int32_t high, int32_t valid) {
    const int32_t last = columns - 1;
    neon_i32 b = values[last < 1 ? last : 1], c = values[last < 2 ? last : 2];
    neon_store_bytes(to, neon_narrow(values[0], b, c, values[last], low, high), valid);
}

KILN_INLINE neon_f32 neon_load_f32(const float *from) {
    return vld1q_f32(from);
}
KILN_INLINE neon_f32 neon_broadcast_f32(const float *from) {
    return vld1q_dup_f32(from);
}

/* sum + a * b, rounded once. */
KILN_INLINE neon_f32 neon_multiply_add(neon_f32 sum, neon_f32 a, neon_f32 b) {
    return vfmaq_f32(sum, a, b);
}

KILN_INLINE neon_f32 neon_set_f32(float value) {
    return vdupq_n_f32(value);
}

KILN_INLINE neon_f32 neon_clamp_f32(neon_f32 value, neon_f32 low, neon_f32 high) {
    return vminq_f32(vmaxq_f32(value, low), high);
}

/* The first `count` (1..4) lanes. */
KILN_INLINE void neon_store_f32(float *to, neon_f32 value, int32_t count) {
    if (count == 4) {
        vst1q_f32(to, value);
        return;
    }
    float buffer[4];
    vst1q_f32(buffer, value);
    for (int32_t i = 0; i < count; i++)
        to[i] = buffer[i];
}

/* round(real / scale) + zero_point, ties away from zero, saturated to int8; NaN becomes 0. */
KILN_INLINE neon_i32 neon_quantize_f32(neon_f32 real, float scale, int32_t zero_point) {
    float32x4_t steps = vdivq_f32(real, vdupq_n_f32(scale));
    uint32x4_t is_number = vceqq_f32(steps, steps);
    steps = vmaxq_f32(steps, vdupq_n_f32((float)(-128 - zero_point)));
    steps = vminq_f32(steps, vdupq_n_f32((float)(127 - zero_point)));
    steps = vbslq_f32(is_number, steps, vdupq_n_f32((float)-zero_point));
    return vaddq_s32(vcvtaq_s32_f32(steps), vdupq_n_s32(zero_point));
}

#define SIMD(name) neon_##name
#include "simd/kernels/requantize_body.h"
#undef SIMD

#endif
