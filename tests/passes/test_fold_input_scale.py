"""What scales the input of a float convolution goes into its weights."""

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
from compiler.passes.fold_input_scale import fold_input_scale
from tests.support.graphs import Sketch, assert_pass_keeps, kinds

RANDOM = np.random.default_rng(5)
TOLERANCE = 1e-5
IMAGE = (1, 6, 5, 4)
PADDED = (1, 1, 1, 0)
#: Operator, shape of its input and weights, parameters without and with padding.
LAYERS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], Any, Any]] = {
    "conv2d": ("conv2d", IMAGE, (6, 3, 2, 4), Conv2dParams(), Conv2dParams(padding=PADDED)),
    "groups": (
        "conv2d", IMAGE, (6, 3, 2, 2), Conv2dParams(groups=2),
        Conv2dParams(groups=2, padding=PADDED),
    ),
    "depthwise": (
        "depthwise_conv2d", IMAGE, (1, 3, 2, 8), DepthwiseConv2dParams(),
        DepthwiseConv2dParams(padding=PADDED),
    ),
    "transpose": (
        "transpose_conv2d", IMAGE, (3, 3, 2, 4), TransposeConv2dParams((13, 10), (2, 2)),
        TransposeConv2dParams((11, 10), (2, 2), padding=(1, 1, 0, 0)),
    ),
    "connected": (
        "fully_connected", (3, 4), (5, 4), FullyConnectedParams(), FullyConnectedParams()
    ),
}  # fmt: skip


def layer(name: str, padded: bool, kinds_before: tuple[str, ...], bias: bool = True) -> Sketch:
    """x, arithmetic with constants, the layer; the output is y."""
    kind, shape, weight, params, with_padding = LAYERS[name]
    sketch = Sketch()
    source = sketch.input("x", shape)
    for index, before in enumerate(kinds_before):
        constant = sketch.constant(f"c{index}", RANDOM.uniform(0.5, 2, 4 if index % 2 else (1, 4)))
        source = sketch.op(before, [source, constant], f"v{index}", ArithmeticParams())
    inputs = [source, sketch.constant("w", RANDOM.uniform(-1, 1, weight))]
    if bias:
        outputs = weight[3] if kind == "depthwise_conv2d" else weight[0]
        inputs.append(sketch.constant("b", RANDOM.uniform(-1, 1, outputs)))
    sketch.op(kind, inputs, "y", with_padding if padded else params)
    return sketch


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_scales(name: str, padded: bool, bias: bool) -> None:
    graph = layer(name, padded, ("mul", "div"), bias).graph(["y"])
    after = assert_pass_keeps(graph, fold_input_scale, TOLERANCE)
    assert kinds(after) == [LAYERS[name][0]]


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_offsets_only_without_padding(name: str, padded: bool) -> None:
    graph = layer(name, padded, ("mul", "sub", "add")).graph(["y"])
    after = assert_pass_keeps(graph, fold_input_scale, TOLERANCE)
    folds = name == "connected" or (name != "transpose" and not padded)
    assert len(after.ops) == (1 if folds else 4)


def test_other_readers_and_clamps_stay() -> None:
    graph = layer("conv2d", False, ("mul",)).graph(["y", "v0"])
    assert len(assert_pass_keeps(graph, fold_input_scale).ops) == 2
    sketch = Sketch()
    sketch.input("x", IMAGE)
    sketch.constant("c", 0.5)
    sketch.constant("w", RANDOM.uniform(-1, 1, (6, 3, 2, 4)))
    sketch.op("mul", ["x", "c"], "a", ArithmeticParams((0.0, 1.0)))
    sketch.op("conv2d", ["a", "w"], "y", Conv2dParams())
    assert len(assert_pass_keeps(sketch.graph(["y"]), fold_input_scale).ops) == 2


def test_arithmetic_of_two_tensors_stays() -> None:
    sketch = Sketch()
    sketch.input("x", IMAGE)
    sketch.input("gate", (1, 1, 1, 4))
    sketch.constant("w", RANDOM.uniform(-1, 1, (6, 3, 2, 4)))
    sketch.op("mul", ["x", "gate"], "a", ArithmeticParams())
    sketch.op("conv2d", ["a", "w"], "y", Conv2dParams())
    assert len(assert_pass_keeps(sketch.graph(["y"]), fold_input_scale).ops) == 2


def test_weights_that_are_shared() -> None:
    """Another convolution keeps the constants as they were."""
    sketch = layer("conv2d", False, ("mul",))
    sketch.op("conv2d", ["x", "w", "b"], "z", Conv2dParams())
    after = assert_pass_keeps(sketch.graph(["y", "z"]), fold_input_scale, TOLERANCE)
    assert kinds(after) == ["conv2d", "conv2d"]
