/* Fixed-point functions on int32 numbers; definitions as in gemmlowp's fixedpoint.h. */
#ifndef REFERENCE_FIXED_POINT_H
#define REFERENCE_FIXED_POINT_H

#include "kernel.h"

/* value * 2^exponent, saturated; exponent 0..31. */
KILN_INLINE int32_t kiln_shift_left_saturated(int32_t value, int32_t exponent) {
    const int64_t shifted = (int64_t)value * ((int64_t)1 << exponent);
    return shifted > INT32_MAX ? INT32_MAX : shifted < INT32_MIN ? INT32_MIN : (int32_t)shifted;
}

/* Bits up to the highest that is set; 0 for 0. */
KILN_INLINE int32_t kiln_bit_length(uint32_t value) {
    int32_t bits = 0;
    for (; value != 0; value >>= 1)
        bits++;
    return bits;
}

/* 1 / (1 + a) for a in [0, 1), both with 31 fraction bits: three Newton steps on d = (1 + a) / 2
 * from 48/17 - 32/17 d. */
KILN_INLINE int32_t kiln_reciprocal_of_one_plus(int32_t a) {
    const int32_t half_denominator = (int32_t)(((int64_t)a + INT32_MAX + 1) / 2);
    int32_t x = 1515870810 + kiln_doubling_high_multiply(half_denominator, -1010580540);
    for (int32_t i = 0; i < 3; i++) {
        const int32_t error = (1 << 29) - kiln_doubling_high_multiply(half_denominator, x);
        x += kiln_shift_left_saturated(kiln_doubling_high_multiply(x, error), 2);
    }
    return kiln_shift_left_saturated(x, 1);
}

/* a / b * multiplier / 2^31 * 2^shift; a number by 0 saturates, 0 by 0 is 0. |a|, |b| < 2^30. */
KILN_INLINE int32_t kiln_divide_quantized(int32_t a, int32_t b, int32_t multiplier, int32_t shift) {
    if (b < 0) {
        a = -a;
        b = -b;
    }
    if (b == 0)
        return a > 0 ? INT32_MAX : a < 0 ? INT32_MIN : 0;
    const int32_t bits = kiln_bit_length((uint32_t)b);
    const uint32_t unit = ((uint32_t)b << (32 - bits)) - ((uint32_t)1 << 31);
    const int32_t headroom = 31 - kiln_bit_length((uint32_t)(a < 0 ? ~a : a));
    const int32_t shifted = (int32_t)((uint32_t)a << headroom);
    const int32_t quotient =
        kiln_doubling_high_multiply(shifted, kiln_reciprocal_of_one_plus((int32_t)unit));
    const int32_t exponent = bits - 1 + headroom - shift;
    const int32_t scaled = kiln_doubling_high_multiply(quotient, multiplier);
    if (exponent > 31)
        return 0;
    return kiln_rounding_shift_right(scaled, exponent < 0 ? 0 : exponent);
}

/* 1 / sqrt(value) as a mantissa and a shift, > 0 is left; 0 counts as 1. Newton steps from 1 on the
 * value brought to [1/2, 2), with 3 integer bits. */
KILN_INLINE int32_t kiln_inverse_square_root(int32_t value, int32_t *shift) {
    *shift = 0;
    if (value <= 1)
        return INT32_MAX;
    int32_t right = 11;
    for (; value >= 1 << 29; value /= 4)
        right++;
    const int32_t pairs = (31 - kiln_bit_length((uint32_t)value)) / 2 - 1;
    right -= pairs;
    const int32_t half = kiln_rounding_shift_right((value << 2 * pairs) >> 1, 1);
    int32_t x = 1 << 28;
    for (int32_t i = 0; i < 5; i++) {
        const int32_t square = kiln_doubling_high_multiply(x, x);
        const int32_t cube = kiln_shift_left_saturated(kiln_doubling_high_multiply(square, x), 6);
        x = kiln_shift_left_saturated(
            kiln_doubling_high_multiply(3 << 27, x) - kiln_doubling_high_multiply(half, cube), 3);
    }
    x = kiln_doubling_high_multiply(x, 1518500250); /* sqrt(1/2) */
    if (right < 0)
        return (int32_t)((uint32_t)x << -right);
    *shift = -right;
    return x;
}

/* log(r) plus what the exponent of r was moved by, for r with no integer bits near sqrt(sqrt(1/2)):
 * a rational function, with `bits` integer bits. */
KILN_INLINE int32_t kiln_log_of_root(int32_t r, int32_t bits) {
    const int32_t centre = 1805811301;
    const int32_t p = (int32_t)(((int64_t)r + centre + 1) / 2), q = 2 * (r - centre);
    const int32_t square = kiln_doubling_high_multiply(q, q);
    const int32_t numerator =
        kiln_doubling_high_multiply(q, r) +
        kiln_doubling_high_multiply(kiln_doubling_high_multiply(q, square), 117049297);
    const int32_t inner = 1057819769 + q + kiln_doubling_high_multiply(127690142, square);
    const int32_t denominator =
        kiln_doubling_high_multiply(p, inner) + kiln_doubling_high_multiply(638450708, q);
    return kiln_doubling_high_multiply(kiln_rounding_shift_right(numerator, bits),
                                       kiln_reciprocal_of_one_plus(denominator));
}

/* log(value) for value >= 1 with input_bits integer bits; the result has output_bits. */
KILN_INLINE int32_t kiln_log_from_one(int32_t value, int32_t input_bits, int32_t output_bits) {
    const int32_t bits = output_bits + 1, root_half = 1518500250, log_2 = 1488522236;
    const int32_t unit = 1 << (31 - bits), quarter = unit / 4;
    const int32_t headroom = 32 - kiln_bit_length((uint32_t)value);
    const int32_t scaled = kiln_doubling_high_multiply(value, root_half);
    const int32_t scaled_headroom = 31 - kiln_bit_length((uint32_t)scaled);
    const int32_t r_a = kiln_shift_left_saturated(
        kiln_doubling_high_multiply(value << (headroom - 1), root_half), 1);
    const int32_t r_b = kiln_shift_left_saturated(value, scaled_headroom);
    const int32_t power_a = (input_bits - headroom) * unit + quarter;
    const int32_t power_b = (input_bits - scaled_headroom) * unit - quarter;
    const int32_t sum = kiln_doubling_high_multiply(power_a > power_b ? power_a : power_b, log_2) +
                        kiln_log_of_root(r_a < r_b ? r_a : r_b, bits);
    return kiln_shift_left_saturated(sum, 1);
}

#endif
