"""A line that is found rounds every single accumulator as fixed point does."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from compiler.loading import load_builtins
from compiler.numerics import MULTIPLY, quantize_multiplier

load_builtins()
MODULE = sys.modules["kiln_targets.simd.straight_line"]


@pytest.mark.parametrize("rounding", ["double", "single"])
@pytest.mark.parametrize("low, zero_point", [(-128, -128), (-128, 3), (5, 5), (-20, -40)])
def test_every_accumulator(rounding: str, low: int, zero_point: int) -> None:
    scales = np.random.default_rng(500 + low + zero_point).uniform(0.003, 0.05, 24)
    pairs = np.array([quantize_multiplier(float(scale)) for scale in scales], np.int64)
    rule = MODULE.FixedPoint(rounding, low, 127, zero_point)
    line = MODULE.straight_line(pairs, np.full(24, 90000.0), rule)
    assert line is not None
    accumulators = np.arange(-90000, 90001)
    for (mantissa, shift), moved, slope, offset in zip(
        pairs, line.moved, line.slope, line.offset, strict=True
    ):
        value = MULTIPLY[rounding](accumulators, mantissa, shift) + zero_point
        real = (accumulators + moved).astype(np.float32).astype(np.longdouble)
        sign = np.where(accumulators < 0, -1, 1) if line.by_sign else 1
        # One rounding, as of a fused multiply-add: a long double holds the exact sum.
        total = (real * np.longdouble(slope) + sign * np.longdouble(offset)).astype(np.float32)
        made = np.rint(total) + (zero_point if line.by_sign else 0)
        np.testing.assert_array_equal(np.clip(made, low, 127), np.clip(value, low, 127))


def test_none_where_float32_is_too_coarse() -> None:
    pairs = np.array([quantize_multiplier(1e-6)], np.int64)
    rule = MODULE.FixedPoint("double", -128, 127, -128)
    assert MODULE.straight_line(pairs, np.array([3e8]), rule) is None


def test_a_channel_of_nothing_is_its_zero_point() -> None:
    rule = MODULE.FixedPoint("double", -128, 127, -7)
    line = MODULE.straight_line(np.zeros((1, 2), np.int64), np.array([1e6]), rule)
    assert line is not None and line.slope[0] == 0 and abs(line.offset[0]) < 0.5
