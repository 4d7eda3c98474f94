"""gemmlowp's fixed-point functions on 16-bit numbers, as TFLite's integer LSTM uses them.

Arrays are int64 holding int16 values; k integer bits mean ``raw / 2^(15 - k)``.
"""

from __future__ import annotations

import numpy as np

from compiler.fixed_point import rounding_half_sum
from compiler.numerics import rounding_shift_right

Array = np.ndarray
ONE = 2**15 - 1  # 1.0 with no integer bits, saturated


def high_multiply(a: Array, b: Array | int) -> Array:
    """round(a * b / 2^15), ties away from zero, saturated."""
    product = a * b
    total = product + np.where(product >= 0, 1 << 14, 1 - (1 << 14))
    return np.minimum(np.where(total >= 0, total >> 15, -(-total >> 15)), ONE)


def _shift_left(value: Array, exponent: int) -> Array:
    return np.clip(value << exponent, -(2**15), ONE)


#: exp(-2^e) with no integer bits, for e = -2, -1, 0, ...: the 32-bit constants rounded.
EXP_OF_POWER = (25520, 19875, 12055, 4435, 600, 11, 0)


def exp_on_negative_values(a: Array, integer_bits: int) -> Array:
    """exp(a) for a <= 0 with ``integer_bits`` (at most 7); the result has none."""
    fraction_bits = 15 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    reduced = (a & (quarter - 1)) - quarter
    x = _shift_left(reduced, integer_bits) + (1 << 12)  # about -1/8
    square = high_multiply(x, x)
    inner = high_multiply(
        rounding_shift_right(high_multiply(square, square), 2) + high_multiply(square, x), 10923
    )
    series = x + rounding_shift_right(inner + square, 1)
    result = np.clip(28918 + high_multiply(series, 28918), -(2**15), ONE)
    remainder = reduced - a
    for exponent, factor in zip(range(-2, 5), EXP_OF_POWER, strict=True):
        if integer_bits > exponent:
            bit = 1 << (fraction_bits + exponent)
            result = np.where(remainder & bit, high_multiply(result, factor), result)
    if integer_bits > 5:
        result = np.where(a < -(1 << (fraction_bits + 5)), 0, result)
    return np.where(a == 0, ONE, result)


def _reciprocal_with_two_bits(a: Array) -> Array:
    """2 / (1 + a) for a in [0, 1] without integer bits; the result has two."""
    half_denominator = rounding_half_sum(a, ONE)
    x = 23130 + high_multiply(half_denominator, -15420)
    for _ in range(3):
        error = (1 << 13) - high_multiply(half_denominator, x)
        x = x + _shift_left(high_multiply(x, error), 2)
    return x


def logistic(a: Array, integer_bits: int = 3) -> Array:
    """1 / (1 + exp(-a)); the result has no integer bits."""
    exponential = exp_on_negative_values(-np.abs(a), integer_bits)
    positive = _shift_left(_reciprocal_with_two_bits(exponential), 1)
    return np.where(a == 0, 1 << 14, np.where(a > 0, positive, ONE - positive))


def tanh(a: Array, integer_bits: int) -> Array:
    """tanh(a) for ``integer_bits`` of at most 6; the result has none."""
    exponential = exp_on_negative_values(-np.abs(a), integer_bits + 1)
    positive = _shift_left(_reciprocal_with_two_bits(exponential) - (1 << 13), 2)
    return np.where(a == 0, 0, np.where(a > 0, positive, -positive))
