"""When the vector code's rescaling is proved exact, and when it is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from compiler.graph import OpView
from compiler.loading import load_builtins
from compiler.operators.matrix import FullyConnectedParams
from tests.support import shape_grid

load_builtins()
MODULE = sys.modules["kiln_targets.simd.requantization"]
requantization, multiplication = MODULE.requantization, MODULE.multiplication


def dense(scale: float, bias: int, zero_point: int = 0, numerics: str = "tflite") -> OpView:
    """One output of four inputs, whose accumulator is at most 4 * 128 * 100 from its bias."""
    weight = np.full((1, 4), 100, np.int8)
    return shape_grid.one_op(
        "fully_connected", FullyConnectedParams(),
        [
            shape_grid.tensor("x", [1, 4], "int8", 1.0),
            shape_grid.constant("w", weight, [scale]),
            shape_grid.constant("b", np.array([bias], np.int32), [scale]),
        ],
        [shape_grid.tensor("y", [1, 1], "int8", 1.0, zero_point)], numerics,
    )  # fmt: skip


def table(view: OpView) -> np.ndarray:
    result = multiplication(view, view.input(1).data)
    assert result is not None
    return np.asarray(result.table)


@pytest.mark.parametrize("numerics", ["tflite", "fast"])
def test_an_accumulator_that_may_wrap_is_refused(numerics: str) -> None:
    within, beyond = (dense(1e-4, bias, 0, numerics) for bias in (2**31 - 2**20, 2**31 - 1))
    assert requantization(within, within.input(1).data) is not None
    assert requantization(beyond, beyond.input(1).data) is None


def test_a_left_shift_that_may_overflow_is_refused() -> None:
    view = dense(2.0**20, 0)
    assert requantization(view, view.input(1).data) is None


def test_the_zero_point_is_added_before_the_shift() -> None:
    multiplier, right, offset, left = table(dense(2.0**-8, 0, zero_point=-5))[:, 0]
    assert (multiplier, right, left) == (2**30, 7, 0)
    assert offset == 2**6 - 5 * 2**7


def test_the_zero_point_stays_apart_where_its_shift_would_overflow() -> None:
    view = dense(2.0**-26, 2**29, zero_point=-128)
    result = multiplication(view, view.input(1).data)
    assert result is not None
    assert result.fields["output.zero_point"] == -128
    assert result.table[2, 0] == 2**24


def test_a_channel_that_rounds_to_nothing_is_its_zero_point() -> None:
    multiplier, right, offset, left = table(dense(2.0**-30, 0, zero_point=7))[:, 0]
    assert (multiplier, right, offset, left) == (0, 0, 7, 0)
