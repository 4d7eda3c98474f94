"""Clamps fold into a producer that only they read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from compiler.graph import Quantization
from compiler.operators.elementwise import ArithmeticParams, ClampParams, UnaryParams
from compiler.operators.pooling import PoolParams
from compiler.passes.fold_clamp import compose, fold_clamp
from tests.support.graphs import QUANT, Sketch, assert_pass_keeps, kinds

RELU = ClampParams(0.0, math.inf)
RELU6 = ClampParams(0.0, 6.0)


def test_into_addition() -> None:
    sketch = Sketch()
    sketch.input("a", (2, 3))
    sketch.input("b", (2, 3))
    sketch.op("add", ["a", "b"], "sum", ArithmeticParams(clamp=(-1.0, 3.0)))
    sketch.op("clamp", ["sum"], "positive", RELU)
    sketch.op("clamp", ["positive"], "y", ClampParams(-math.inf, 1.0))
    after = assert_pass_keeps(sketch.graph(["y"]), fold_clamp)
    assert kinds(after) == ["add"]
    assert after.ops[0].params.clamp == (0.0, 1.0)


def test_other_reader_keeps_the_clamp() -> None:
    """A skip connection reads the value before the clamp."""
    sketch = Sketch()
    sketch.input("a", (2, 3))
    sketch.op("add", ["a", "a"], "sum", ArithmeticParams())
    sketch.op("clamp", ["sum"], "positive", RELU)
    sketch.op("sub", ["positive", "sum"], "y", ArithmeticParams())
    after = assert_pass_keeps(sketch.graph(["y"]), fold_clamp)
    assert kinds(after) == ["add", "clamp", "sub"]


def test_output_keeps_the_clamp() -> None:
    sketch = Sketch()
    sketch.input("a", (2, 3))
    sketch.op("add", ["a", "a"], "sum", ArithmeticParams())
    sketch.op("clamp", ["sum"], "y", RELU)
    after = assert_pass_keeps(sketch.graph(["y", "sum"]), fold_clamp)
    assert kinds(after) == ["add", "clamp"]


def test_two_clamps_behind_what_takes_none() -> None:
    sketch = Sketch()
    sketch.input("a", (2, 3))
    sketch.op("neg", ["a"], "minus", UnaryParams())
    sketch.op("clamp", ["minus"], "positive", RELU)
    sketch.op("clamp", ["positive"], "y", ClampParams(-1.0, 0.5))
    after = assert_pass_keeps(sketch.graph(["y"]), fold_clamp)
    assert kinds(after) == ["neg", "clamp"]
    assert after.ops[1].params == ClampParams(0.0, 0.5)


@pytest.mark.parametrize("quant", [QUANT, Quantization((0.07,), (-20,))])
def test_quantized(quant: Quantization) -> None:
    """Of the same scale, it folds; of another, it has to requantize."""
    sketch = Sketch()
    sketch.input("a", (4, 50), QUANT)
    sketch.input("b", (4, 50), Quantization((0.031,), (11,)))
    sketch.op("add", ["a", "b"], "sum", ArithmeticParams())
    sketch.op("clamp", ["sum"], "y", RELU6, quant=quant)
    after = assert_pass_keeps(sketch.graph(["y"]), fold_clamp)
    assert kinds(after) == (["add"] if quant == QUANT else ["add", "clamp"])


def test_quantized_pool() -> None:
    sketch = Sketch()
    sketch.input("x", (1, 4, 4, 3), QUANT)
    sketch.op("max_pool2d", ["x"], "top", PoolParams((2, 2)))
    sketch.op("clamp", ["top"], "y", RELU6)
    assert kinds(assert_pass_keeps(sketch.graph(["y"]), fold_clamp)) == ["max_pool2d"]


@pytest.mark.parametrize("first", [(-1.0, 2.0), (3.0, 4.0), (-5.0, -4.0), (-math.inf, math.inf)])
@pytest.mark.parametrize("second", [(0.0, 1.0), (-9.0, 9.0), (0.0, math.inf), (-3.0, -2.0)])
def test_composition(first: tuple[float, float], second: tuple[float, float]) -> None:
    x = np.linspace(-10, 10, 201)
    np.testing.assert_array_equal(
        np.clip(np.clip(x, *first), *second), np.clip(x, *compose(first, second))
    )
