/* Binary operators on quantized integers: by fixed point, or by reals where TFLite has none. */
#ifndef REFERENCE_BINARY_QUANTIZED_H
#define REFERENCE_BINARY_QUANTIZED_H

#include "reference/kernels/binary.h"
#include "reference/kernels/fixed_point.h"
#include "reference/kernels/real.h"

/* tflite: each operand, shifted left, times its multiplier; their sum times the output's.
 * fast: scales are those of the operands over that of the output. b's sign makes it sub. */
struct add_integer_shape {
    KILN_BROADCAST_MEMBERS
    int32_t a_zero_point, b_zero_point, output_zero_point;
    int32_t clamp_low, clamp_high;
    int32_t rounding; /* enum kiln_rounding */
    int32_t left_shift, b_sign;
    int32_t a_multiplier, a_shift, b_multiplier, b_shift, output_multiplier, output_shift;
    float a_scale, b_scale;
};
struct mul_integer_shape {
    KILN_BROADCAST_MEMBERS
    int32_t a_zero_point, b_zero_point, output_zero_point;
    int32_t clamp_low, clamp_high;
    int32_t rounding; /* enum kiln_rounding */
    int32_t multiplier, shift;
    float scale;
};
struct by_reals_shape {
    KILN_BROADCAST_MEMBERS
    int32_t a_zero_point, b_zero_point, output_zero_point;
    int32_t clamp_low, clamp_high;
    float a_scale, b_scale, output_scale;
};

/* What is not used is 0: a comparison has no output multiplier, a division no others. */
struct scaled_integer_shape {
    KILN_BROADCAST_MEMBERS
    int32_t a_zero_point, b_zero_point, output_zero_point;
    int32_t clamp_low, clamp_high;
    int32_t left_shift; /* bits that operands gain before they are scaled */
    int32_t a_multiplier, a_shift, b_multiplier, b_shift, output_multiplier, output_shift;
};

/* `a` and `b` are less their zero points. */
KILN_INLINE int32_t kiln_add_integers(const struct add_integer_shape *s, int32_t a, int32_t b) {
    const int32_t low = s->clamp_low - s->output_zero_point;
    const int32_t high = s->clamp_high - s->output_zero_point;
    if (s->rounding == KILN_ROUND_FAST) {
        const float sum = (float)a * s->a_scale + (float)b * s->b_scale;
        return kiln_round_to_even(kiln_clamp_float(sum, (float)low, (float)high)) +
               s->output_zero_point;
    }
    const int32_t left =
        kiln_multiply_quantized(a * (1 << s->left_shift), s->a_multiplier, s->a_shift);
    const int32_t right =
        kiln_multiply_quantized(b * (1 << s->left_shift), s->b_multiplier, s->b_shift);
    const int32_t sum =
        kiln_multiply_quantized(left + s->b_sign * right, s->output_multiplier, s->output_shift);
    return kiln_clamp(sum, low, high) + s->output_zero_point;
}

KILN_INLINE int32_t kiln_mul_integers(const struct mul_integer_shape *s, int32_t a, int32_t b) {
    if (s->rounding == KILN_ROUND_FAST)
        return kiln_requantize_fast(a * b, s->scale, s->clamp_low, s->clamp_high,
                                    s->output_zero_point);
    const int32_t value = kiln_multiply_quantized(a * b, s->multiplier, s->shift);
    return kiln_clamp(value, s->clamp_low - s->output_zero_point,
                      s->clamp_high - s->output_zero_point) +
           s->output_zero_point;
}

KILN_INLINE int32_t kiln_store_integer(const struct scaled_integer_shape *s, int32_t value) {
    return kiln_clamp(value, s->clamp_low - s->output_zero_point,
                      s->clamp_high - s->output_zero_point) +
           s->output_zero_point;
}

KILN_INLINE int32_t kiln_scaled_a(const struct scaled_integer_shape *s, int32_t a) {
    return kiln_multiply_quantized(a * (1 << s->left_shift), s->a_multiplier, s->a_shift);
}

KILN_INLINE int32_t kiln_scaled_b(const struct scaled_integer_shape *s, int32_t b) {
    return kiln_multiply_quantized(b * (1 << s->left_shift), s->b_multiplier, s->b_shift);
}

KILN_INLINE int32_t kiln_squared_difference(const struct scaled_integer_shape *s, int32_t a,
                                            int32_t b) {
    const int32_t difference = kiln_scaled_a(s, a) - kiln_scaled_b(s, b);
    return kiln_store_integer(
        s, kiln_multiply_quantized(difference * difference, s->output_multiplier, s->output_shift));
}

/* a's multiplier is for x as it is, the output's for x times the slope b. */
KILN_INLINE int32_t kiln_prelu_integers(const struct scaled_integer_shape *s, int32_t a,
                                        int32_t b) {
    return kiln_store_integer(
        s, a >= 0 ? kiln_multiply_quantized(a, s->a_multiplier, s->a_shift)
                  : kiln_multiply_quantized(a * b, s->output_multiplier, s->output_shift));
}

KILN_INLINE int32_t kiln_divide_integers(const struct scaled_integer_shape *s, int32_t a,
                                         int32_t b) {
    return kiln_store_integer(s,
                              kiln_divide_quantized(a, b, s->output_multiplier, s->output_shift));
}

#define KILN_REAL_A(a) kiln_real(a, s->a_zero_point, s->a_scale)
#define KILN_REAL_B(b) kiln_real(b, s->b_zero_point, s->b_scale)
#define KILN_INTEGER(real)                                                                         \
    kiln_integer(real, s->output_scale, s->output_zero_point, s->clamp_low, s->clamp_high)

KILN_INLINE float kiln_square(float x) {
    return x * x;
}
KILN_INLINE float kiln_maximum(float a, float b) {
    return a > b ? a : b;
}
KILN_INLINE float kiln_minimum(float a, float b) {
    return a < b ? a : b;
}

#define KILN_SUFFIX int8__reference
#define KILN_INPUT int8_t
#include "reference/kernels/binary_quantized_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#define KILN_SUFFIX uint8__reference
#define KILN_INPUT uint8_t
#include "reference/kernels/binary_quantized_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#define KILN_SUFFIX int16__reference
#define KILN_INPUT int16_t
#include "reference/kernels/binary_quantized_list.h"
#undef KILN_SUFFIX
#undef KILN_INPUT

#undef KILN_REAL_A
#undef KILN_REAL_B
#undef KILN_INTEGER

#endif
