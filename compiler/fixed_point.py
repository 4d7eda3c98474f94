"""Fixed-point functions of TFLite's reference kernels, on int64 arrays of int32 values.

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


def _rescale(value: Array, exponent: int) -> Array:
    """value * 2^exponent: saturated to the left, rounded to the right."""
    if exponent >= 0:
        return saturating_shift_left(value, exponent)
    return rounding_shift_right(value, -exponent)


def bit_length(value: Array) -> Array:
    """Bits of each value >= 0; exact below 2^53."""
    return np.frexp(np.asarray(value, np.float64))[1].astype(np.int64)


def reciprocal(value: Array) -> tuple[Array, Array]:
    """1 / value for int32 values > 0: (mantissa without integer bits, bits to shift right)."""
    bits = bit_length(value)
    normalised = (np.asarray(value, np.int64) << (32 - bits)) - (1 << 31)
    return one_over_one_plus(normalised), bits - 1


def inverse_square_root(value: int) -> tuple[int, int]:
    """1 / sqrt(value) of an int32 as (mantissa, shift), shift > 0 is left; 0 counts as 1."""
    if value <= 1:
        return 2**31 - 1, 0
    right = 11
    while value >= 1 << 29:
        value //= 4
        right += 1
    pairs = (31 - value.bit_length()) // 2 - 1
    right -= pairs
    half = rounding_shift_right(np.int64((value << 2 * pairs) >> 1), 1)  # 3 integer bits, as x
    x, three_halves = np.int64(1 << 28), np.int64(3 << 27)
    for _ in range(5):
        cube = _rescale(doubling_high_multiply(doubling_high_multiply(x, x), x), 6)
        newton = doubling_high_multiply(three_halves, x) - doubling_high_multiply(half, cube)
        x = _rescale(newton, 3)
    mantissa = int(doubling_high_multiply(x, np.int64(1518500250)))  # sqrt(1/2)
    return (mantissa, -right) if right >= 0 else (mantissa << -right, 0)


def log_from_one(value: Array, input_bits: int, output_bits: int) -> Array:
    """log(value) for value >= 1 with ``input_bits`` integer bits; the result has ``output_bits``.

    log(z) = log(r) + n log(2), r near sqrt(sqrt(1/2)), where a rational function is exact enough.
    """
    bits = output_bits + 1
    log_2, root_root_half, root_half = (np.int64(n) for n in (1488522236, 1805811301, 1518500250))
    quarter = rounding_shift_right(np.int64(1 << 29), bits)
    headroom = 32 - bit_length(value)
    r_a = _rescale(doubling_high_multiply(value << (headroom - 1), root_half), 1)
    power_a = ((input_bits - headroom) << (31 - bits)) + quarter
    scaled = doubling_high_multiply(value, root_half)
    headroom_b = 31 - bit_length(scaled)
    r_b = np.clip(value << headroom_b, -(2**31), 2**31 - 1)
    power_b = ((input_bits - headroom_b) << (31 - bits)) - quarter
    r, power = np.minimum(r_a, r_b), np.maximum(power_a, power_b)
    fraction = _log_of_root(r, root_root_half, bits)
    total = doubling_high_multiply(power, log_2) + fraction
    return _rescale(total, bits - output_bits)


def _log_of_root(r: Array, centre: np.int64, bits: int) -> Array:
    """log(r) plus what the exponent was moved by, for r near ``centre``; ``bits`` integer bits."""
    alpha_n, alpha_d, alpha_i, alpha_f = (
        np.int64(n) for n in (117049297, 127690142, 1057819769, 638450708)
    )
    p, q = rounding_half_sum(r, int(centre)), 2 * (r - centre)
    square = doubling_high_multiply(q, q)
    cubic = doubling_high_multiply(doubling_high_multiply(q, square), alpha_n)
    numerator = doubling_high_multiply(q, r) + cubic
    inner = alpha_i + q + doubling_high_multiply(alpha_d, square)
    denominator = doubling_high_multiply(p, inner) + doubling_high_multiply(alpha_f, q)
    return doubling_high_multiply(
        rounding_shift_right(numerator, bits), one_over_one_plus(denominator)
    )
