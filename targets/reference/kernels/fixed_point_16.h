/* Fixed-point functions on int16 numbers held in int32; definitions as in gemmlowp's fixedpoint.h.
 */
#ifndef REFERENCE_FIXED_POINT_16_H
#define REFERENCE_FIXED_POINT_16_H

#include "kernel.h"

/* round(a * b / 2^15), ties away from zero, saturated. */
KILN_INLINE int32_t kiln_high_multiply_16(int32_t a, int32_t b) {
    const int32_t product = a * b;
    const int32_t high = (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
    return high > 32767 ? 32767 : high;
}

/* value * 2^exponent, saturated; exponent 0..7. */
KILN_INLINE int32_t kiln_shift_left_16(int32_t value, int32_t exponent) {
    return kiln_clamp(value * (1 << exponent), -32768, 32767);
}

/* exp(a) for a <= 0 with `integer_bits` of at most 7; the result has none. */
KILN_INLINE int32_t kiln_exp_16(int32_t a, int32_t integer_bits) {
    /* exp(-2^e) for e = -2, -1, 0, ... */
    static const int16_t power[7] = {25520, 19875, 12055, 4435, 600, 11, 0};
    const int32_t fraction_bits = 15 - integer_bits;
    const int32_t quarter = 1 << (fraction_bits - 2);
    if (a == 0)
        return 32767;
    const int32_t reduced = (a & (quarter - 1)) - quarter;
    const int32_t x = kiln_shift_left_16(reduced, integer_bits) + (1 << 12);
    const int32_t square = kiln_high_multiply_16(x, x);
    const int32_t fourth = kiln_rounding_shift_right(kiln_high_multiply_16(square, square), 2);
    const int32_t inner = kiln_high_multiply_16(fourth + kiln_high_multiply_16(square, x), 10923);
    const int32_t series = x + kiln_rounding_shift_right(inner + square, 1);
    int32_t result = kiln_clamp(28918 + kiln_high_multiply_16(series, 28918), -32768, 32767);
    const int32_t remainder = reduced - a;
    for (int32_t i = 0; i < integer_bits + 2 && i < 7; i++)
        if (remainder & (1 << (fraction_bits + i - 2)))
            result = kiln_high_multiply_16(result, power[i]);
    if (integer_bits > 5 && a < -(1 << (fraction_bits + 5)))
        return 0;
    return result;
}

/* 2 / (1 + a) for a in [0, 1] without integer bits; the result has two. */
KILN_INLINE int32_t kiln_reciprocal_16(int32_t a) {
    const int32_t half_denominator = (a + 32768) / 2;
    int32_t x = 23130 + kiln_high_multiply_16(half_denominator, -15420);
    for (int32_t i = 0; i < 3; i++) {
        const int32_t error = (1 << 13) - kiln_high_multiply_16(half_denominator, x);
        x += kiln_shift_left_16(kiln_high_multiply_16(x, error), 2);
    }
    return x;
}

/* Of a number with 3 integer bits; the result has none. */
KILN_INLINE int32_t kiln_logistic_16(int32_t a) {
    if (a == 0)
        return 1 << 14;
    const int32_t exponential = kiln_exp_16(a > 0 ? -a : a, 3);
    const int32_t positive = kiln_shift_left_16(kiln_reciprocal_16(exponential), 1);
    return a > 0 ? positive : 32767 - positive;
}

/* Of a number with `integer_bits` of at most 6; the result has none. */
KILN_INLINE int32_t kiln_tanh_16(int32_t a, int32_t integer_bits) {
    if (a == 0)
        return 0;
    const int32_t exponential = kiln_exp_16(a > 0 ? -a : a, integer_bits + 1);
    const int32_t positive = kiln_shift_left_16(kiln_reciprocal_16(exponential) - (1 << 13), 2);
    return a > 0 ? positive : -positive;
}

#endif
