"""Batch normalisation goes into the weights before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.operators.convolution import (
    Conv2dParams,
    DepthwiseConv2dParams,
    TransposeConv2dParams,
)
from compiler.operators.elementwise import ArithmeticParams
from compiler.operators.matrix import FullyConnectedParams
from compiler.passes.fold_batch_norm import fold_batch_norm
from tests.support.graphs import Sketch, assert_pass_keeps, kinds

RANDOM = np.random.default_rng(4)
TOLERANCE = 1e-5


def layer(kind: str, clamp: tuple[float, float] | None = None, bias: bool = True) -> Sketch:
    """A layer with output "out" of 6 channels."""
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...], type]] = {
        "conv2d": ((1, 5, 5, 4), (6, 3, 3, 4), Conv2dParams),
        "depthwise_conv2d": ((1, 5, 5, 3), (1, 3, 3, 6), DepthwiseConv2dParams),
        "fully_connected": ((2, 4), (6, 4), FullyConnectedParams),
        "transpose_conv2d": ((1, 3, 3, 4), (6, 3, 3, 4), TransposeConv2dParams),
    }
    x, weight, params = shapes[kind]
    sketch = Sketch()
    sketch.input("x", x)
    sketch.constant("w", RANDOM.uniform(-1, 1, weight))
    inputs = ["x", "w"]
    if bias:
        inputs.append(sketch.constant("b", RANDOM.uniform(-1, 1, 6)))
    fields: dict[str, Any] = {"clamp": clamp} if clamp else {}
    if params is TransposeConv2dParams:
        fields |= {"output_hw": (8, 8), "stride": (2, 2)}
    sketch.op(kind, inputs, "out", params(**fields))
    return sketch


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "kind", ["conv2d", "depthwise_conv2d", "fully_connected", "transpose_conv2d"]
)
def test_multiply_then_add(kind: str, bias: bool) -> None:
    sketch = layer(kind, bias=bias)
    sketch.constant("scale", RANDOM.uniform(0.5, 2, 6))
    sketch.constant("offset", RANDOM.uniform(-1, 1, (1, 6)))
    sketch.op("mul", ["out", "scale"], "scaled", ArithmeticParams())
    sketch.op("add", ["offset", "scaled"], "y", ArithmeticParams(clamp=(0.0, 6.0)))
    after = assert_pass_keeps(sketch.graph(["y"]), fold_batch_norm, TOLERANCE)
    assert kinds(after) == [kind]
    assert after.ops[0].params.clamp == (0.0, 6.0)


@pytest.mark.parametrize(
    ("kind", "order"), [("sub", "out c"), ("sub", "c out"), ("div", "out c"), ("mul", "c out")]
)
def test_one_operation(kind: str, order: str) -> None:
    sketch = layer("conv2d")
    sketch.constant("c", np.full((1, 1, 1), 0.7, np.float32))
    sketch.op(kind, order.split(), "y", ArithmeticParams())
    after = assert_pass_keeps(sketch.graph(["y"]), fold_batch_norm, TOLERANCE)
    assert kinds(after) == ["conv2d"]


def untouched(sketch: Sketch, *outputs: str) -> None:
    graph = sketch.graph(outputs)
    assert fold_batch_norm(graph) is graph


def test_quotient_by_the_result_stays() -> None:
    sketch = layer("conv2d")
    sketch.constant("c", np.float32(0.7))
    sketch.op("div", ["c", "out"], "y", ArithmeticParams())
    untouched(sketch, "y")


def test_not_behind_an_activation() -> None:
    sketch = layer("conv2d", clamp=(0.0, 6.0))
    sketch.constant("c", RANDOM.uniform(0.5, 2, 6))
    sketch.op("mul", ["out", "c"], "y", ArithmeticParams())
    untouched(sketch, "y")


def test_not_where_the_result_is_read_elsewhere() -> None:
    sketch = layer("conv2d")
    sketch.constant("c", RANDOM.uniform(0.5, 2, 6))
    sketch.op("mul", ["out", "c"], "y", ArithmeticParams())
    untouched(sketch, "y", "out")


def test_not_along_another_axis() -> None:
    sketch = layer("conv2d")
    sketch.constant("c", RANDOM.uniform(0.5, 2, (1, 3, 1, 1)))
    sketch.op("mul", ["out", "c"], "y", ArithmeticParams())
    untouched(sketch, "y")


def test_shared_weights_stay_for_the_other_layer() -> None:
    sketch = layer("conv2d")
    sketch.op("conv2d", ["x", "w"], "other", Conv2dParams())
    sketch.constant("c", RANDOM.uniform(0.5, 2, 6))
    sketch.op("mul", ["out", "c"], "y", ArithmeticParams())
    after = assert_pass_keeps(sketch.graph(["y", "other"]), fold_batch_norm, TOLERANCE)
    assert kinds(after) == ["conv2d", "conv2d"]
