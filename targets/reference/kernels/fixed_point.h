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

#endif
