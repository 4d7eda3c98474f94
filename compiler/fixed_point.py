"""Fixed-point functions of TFLite's reference softmax, on int64 arrays of int32 values.

The definitions are gemmlowp's (fixedpoint/fixedpoint.h): a raw int32 with k integer bits means
``raw / 2^(31 - k)``; products are rounded doubling high multiplies.
"""

from __future__ import annotations

import numpy as np

from compiler.numerics import doubling_high_multiply, rounding_shift_right

Array = np.ndarray
ONE = 2**31 - 1  # 1.0 with no integer bits, saturated


def saturating_shift_left(value: Array, exponent: int) -> Array:
    return np.clip(value << exponent, -(2**31), 2**31 - 1)


def _exp_quarter(a: Array) -> Array:
    """exp(a) for a in [-1/4, 0), no integer bits: Taylor about -1/8."""
    x = a + (1 << 28)
    x2 = doubling_high_multiply(x, x)
    x3 = doubling_high_multiply(x2, x)
    x4 = doubling_high_multiply(x2, x2)
    x4_over_4 = rounding_shift_right(x4, 2)
    one_third, exp_minus_eighth = 715827883, 1895147668
    inner = doubling_high_multiply(x4_over_4 + x3, np.int64(one_third)) + x2
    series = x + rounding_shift_right(inner, 1)
    return exp_minus_eighth + doubling_high_multiply(np.int64(exp_minus_eighth), series)


#: exp(-2^e) with no integer bits, for e = -2, -1, 0, ...
_EXP_OF_POWER = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)


def exp_on_negative_values(a: Array, integer_bits: int) -> Array:
    """exp(a) for a <= 0 with ``integer_bits``; the result has none."""
    fraction_bits = 31 - integer_bits
    quarter = np.int64(1) << (fraction_bits - 2)
    reduced = (a & (quarter - 1)) - quarter
    result = _exp_quarter(saturating_shift_left(reduced, integer_bits))
    remainder = reduced - a
    for exponent, factor in zip(range(-2, 5), _EXP_OF_POWER, strict=True):
        if integer_bits > exponent:
            bit = np.int64(1) << (fraction_bits + exponent)
            chosen = doubling_high_multiply(result, np.int64(factor))
            result = np.where(remainder & bit, chosen, result)
    if integer_bits > 5:
        result = np.where(a < -(np.int64(1) << (fraction_bits + 5)), 0, result)
    return np.where(a == 0, ONE, result)


def rounding_half_sum(a: Array, b: Array | int) -> Array:
    """(a + b) / 2, ties away from zero."""
    total = a + b
    sign = np.where(total >= 0, 1, -1)
    value = total + sign
    return np.where(value >= 0, value >> 1, -(-value >> 1))


def one_over_one_plus(a: Array) -> Array:
    """1 / (1 + a) for a in [0, 1], no integer bits: three Newton steps."""
    half_denominator = rounding_half_sum(a, ONE)
    x = 1515870810 + doubling_high_multiply(half_denominator, np.int64(-1010580540))
    for _ in range(3):
        product = doubling_high_multiply(half_denominator, x)
        error = (1 << 29) - product
        x = x + saturating_shift_left(doubling_high_multiply(x, error), 2)
    return saturating_shift_left(x, 1)
