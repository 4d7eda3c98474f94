/* The primitives of the shared SIMD bodies in NEON with dot products: those of NEON, with another
 * product of four. */
#ifndef ARM_NEON_DOTPROD_SIMD_H
#define ARM_NEON_DOTPROD_SIMD_H

#include "arm_neon/kernels/simd.h"

typedef neon_i32 neondot_i32;

#define neondot_copy neon_copy
#define neondot_load_i32 neon_load_i32
#define neondot_add_i32 neon_add_i32
#define neondot_shift_left neon_shift_left
#define neondot_requantize_tflite neon_requantize_tflite
#define neondot_requantize_single neon_requantize_single
#define neondot_requantize_fast neon_requantize_fast
#define neondot_requantize_line neon_requantize_line
#define neondot_store_int8 neon_store_int8

/* Four activations of one pixel, in every lane. */
typedef int8x16_t neondot_quad;

KILN_INLINE neondot_quad neondot_broadcast_quad(const int8_t *from, int32_t narrow) {
    (void)narrow;
    const int8_t(*four)[4] = (const int8_t(*)[4])(const void *)from;
    int8x16_t quad;
    /* As an instruction, so that the address need not be that of a whole int32. */
    __asm__("ld1r {%0.4s}, %1" : "=w"(quad) : "Q"(*four));
    return quad;
}

/* Four int8 weights per lane. */
typedef int8x16_t neondot_weights;

KILN_INLINE neondot_weights neondot_load_weights(const int8_t *from, int32_t narrow) {
    (void)narrow;
    return vld1q_s8(from);
}

/* sum + the four products of each lane, which no sum of int8 leaves. */
KILN_INLINE neondot_i32 neondot_dot(neondot_i32 sum, neondot_quad quad, neondot_weights weights,
                                    int32_t narrow) {
    (void)narrow;
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(quad), "w"(weights));
    return sum;
}

/* The same with the activations 4 * index to 4 * index + 3 of 16. */
typedef neon_bytes neondot_bytes;
#define neondot_load_bytes neon_load_bytes

KILN_INLINE neondot_i32 neondot_dot_quad(neondot_i32 sum, neondot_bytes quads,
                                         neondot_weights weights, int32_t index) {
    switch (index) {
    case 0:
        __asm__("sdot %0.4s, %1.16b, %2.4b[0]" : "+w"(sum) : "w"(weights), "w"(quads));
        return sum;
    case 1:
        __asm__("sdot %0.4s, %1.16b, %2.4b[1]" : "+w"(sum) : "w"(weights), "w"(quads));
        return sum;
    case 2:
        __asm__("sdot %0.4s, %1.16b, %2.4b[2]" : "+w"(sum) : "w"(weights), "w"(quads));
        return sum;
    default:
        __asm__("sdot %0.4s, %1.16b, %2.4b[3]" : "+w"(sum) : "w"(weights), "w"(quads));
        return sum;
    }
}

#define SIMD(name) neondot_##name
#include "simd/kernels/requantize_body.h"
#undef SIMD

#endif
