"""The integer arithmetic of both profiles against exact rational numbers."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.graph import Quantization, Tensor
from compiler.numerics import (
    clamp_limits,
    divide_half_away,
    doubling_high_multiply,
    multiply_quantized,
    multiply_single,
    multiply_wide,
    quantize_array,
    quantize_multiplier,
    requantize,
    round_half_away,
    rounding_shift_right,
)

INT32 = st.integers(-(2**31), 2**31 - 1)


def half_away(value: Fraction) -> int:
    """To the nearest integer, ties away from zero."""
    magnitude = floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


@given(st.floats(2**-30, 2**20))
def test_multiplier_is_the_nearest_with_31_bits(real: float) -> None:
    mantissa, shift = quantize_multiplier(real)
    assert 2**30 <= mantissa < 2**31
    assert abs(Fraction(mantissa) * Fraction(2) ** (shift - 31) / Fraction(real) - 1) <= 2.0**-31


@pytest.mark.parametrize(
    ("real", "wanted"),
    [
        (0.0, (0, 0)), (1.0, (2**30, 1)), (0.5, (2**30, 0)), (2.0**-33, (0, 0)),
        (2.0**-32, (2**30, -31)), (1 - 2.0**-33, (2**30, 1)), (1 - 2.0**-31, (2**31 - 1, 0)),
    ],
)  # fmt: skip
def test_multiplier_at_its_limits(real: float, wanted: tuple[int, int]) -> None:
    assert quantize_multiplier(real) == wanted


@given(INT32, INT32)
def test_high_multiply(a: int, b: int) -> None:
    wanted = floor(Fraction(a * b, 2**31) + Fraction(1, 2))  # ties upwards
    assert int(doubling_high_multiply(np.int64(a), np.int64(b))) == min(wanted, 2**31 - 1)


@given(INT32, st.integers(0, 31))
def test_rounding_shift(value: int, exponent: int) -> None:
    assert int(rounding_shift_right(np.int64(value), exponent)) == half_away(
        Fraction(value, 2**exponent)
    )


@given(INT32, st.floats(2**-20, 0.99))
def test_double_rounding_is_within_one(value: int, real: float) -> None:
    mantissa, shift = quantize_multiplier(real)
    exact = Fraction(value) * mantissa * Fraction(2) ** (shift - 31)
    assert abs(int(multiply_quantized(np.int64(value), mantissa, shift)) - exact) <= 1


@given(st.integers(-(2**46), 2**46), st.floats(2**-30, 2**-16))
def test_single_rounding_is_exact(value: int, real: float) -> None:
    mantissa, shift = quantize_multiplier(real)
    exact = Fraction(value) * mantissa * Fraction(2) ** (shift - 31)
    assert int(multiply_single(np.int64(value), mantissa, shift)) == floor(exact + Fraction(1, 2))


@given(st.integers(-(2**40), 2**40), st.floats(2**-30, 2**-10))
def test_wide_rounding_has_a_16_bit_multiplier(value: int, real: float) -> None:
    mantissa, shift = quantize_multiplier(real)
    reduced = min((mantissa + 2**15) >> 16, 0x7FFF)
    exact = Fraction(value) * reduced * Fraction(2) ** (shift - 15)
    assert int(multiply_wide(np.int64(value), mantissa, shift)) == floor(exact + Fraction(1, 2))


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_division(total: int, count: int) -> None:
    assert int(divide_half_away(np.int64(total), count)) == half_away(Fraction(total, count))


def test_halves_go_away_from_zero() -> None:
    values = np.array([-2.5, -1.5, -0.5, -0.4, 0.5, 1.5, 2.5])
    assert round_half_away(values).tolist() == [-3, -2, -1, 0, 1, 2, 3]


def test_fast_rounds_to_even_and_once() -> None:
    """Product and rounding in float32: 2^24 + 1 is not one, and halves go to the even integer."""
    output = Tensor("y", (6,), "int16", Quantization((1.0,), (7,)))
    accumulator = np.array([1, 3, -1, -3, 2**24 + 1, -(2**31)])
    found = requantize(accumulator, np.array([0.5]), output, (-np.inf, np.inf), "fast")
    assert found.tolist() == [7, 9, 7, 5, 32767, -32768]


def test_limits_stay_in_the_type() -> None:
    tensor = Tensor("y", (1,), "int8", Quantization((0.02,), (100,)))
    assert clamp_limits(tensor, (0.0, 6.0)) == (100, 127)
    assert clamp_limits(tensor, (-np.inf, np.inf)) == (-128, 127)
    assert clamp_limits(tensor, (-1.0, 0.25)) == (50, 113)


def test_quantizing_saturates() -> None:
    values = np.array([-np.inf, -1e30, -0.25, 0.25, 1e30, np.inf, np.nan], np.float32)
    assert quantize_array(values, 0.5, 3, "int8").tolist() == [-128, -128, 2, 4, 127, 127, 0]
