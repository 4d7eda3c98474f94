"""A change of scale goes into the operator before it, where that rounds no otherwise."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from compiler.graph import Graph, Quantization
from compiler.kernels import kernels_of
from compiler.operators.convolution import Conv2dParams
from compiler.operators.elementwise import ArithmeticParams
from compiler.operators.pooling import PoolParams
from compiler.operators.quantization import QuantizeParams
from compiler.passes.fuse_requantize import fuse_requantize, rescales
from compiler.registry import params
from compiler.simulator import Simulator
from tests.support.graphs import QUANT, Sketch, assert_pass_keeps, kinds

WEIGHTS = Quantization((0.02,), (0,))
SHAPE = (1, 6, 6, 4)
CLAMPS = [(-np.inf, np.inf), (0.0, 6.0), (-1.0, np.inf)]


def convolution(
    middle: Quantization, last: Quantization, clamp: tuple[float, float], by_float: bool = False
) -> Graph:
    """A convolution to ``middle``, brought to ``last``. Both ends of int8 are met."""
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    random = np.random.default_rng(6)
    sketch.constant("w", random.integers(-127, 128, (5, 3, 3, 4)).astype(np.int8), WEIGHTS)
    sketch.op("conv2d", ["x", "w"], "a", Conv2dParams(clamp=clamp), quant=middle)
    if by_float:
        sketch.op("dequantize", ["a"], "b", QuantizeParams(), quant=None, dtype="float32")
        sketch.op("quantize", ["b"], "y", QuantizeParams(), quant=last, dtype="int8")
    else:
        sketch.op("requantize", ["a"], "y", QuantizeParams(), quant=last)
    return sketch.graph(["y"])


@pytest.mark.parametrize("numerics", ["tflite", "fast"])
@pytest.mark.parametrize("by_float", [True, False])
@pytest.mark.parametrize("clamp", CLAMPS)
@pytest.mark.parametrize("zero_points", [(-128, 127), (127, -128), (-7, 20), (20, -7), (3, 3)])
def test_another_zero_point(
    zero_points: tuple[int, int], clamp: tuple[float, float], by_float: bool, numerics: str
) -> None:
    """What saturated before the zero point moved still does."""
    middle, last = (Quantization((0.05,), (zero,)) for zero in zero_points)
    graph = convolution(middle, last, clamp, by_float).replace(numerics=numerics)
    after = assert_pass_keeps(graph, fuse_requantize)
    assert kinds(after) == ["conv2d"]


def test_another_scale_rounds_twice() -> None:
    graph = convolution(Quantization((0.05,), (0,)), Quantization((0.03,), (0,)), CLAMPS[0])
    assert kinds(assert_pass_keeps(graph, fuse_requantize)) == ["conv2d", "requantize"]


@pytest.mark.parametrize("by_float", [True, False])
def test_fast_numerics_round_once(by_float: bool) -> None:
    """Off by a step at most, where nothing saturates; the exact sum decides which is nearer."""
    middle, last = Quantization((2.0,), (0,)), Quantization((2.3,), (4,))
    graph = convolution(middle, last, CLAMPS[0], by_float).replace(numerics="fast")
    after = fuse_requantize(graph)
    assert kinds(after) == ["conv2d"]
    inputs = {"x": np.random.default_rng(7).integers(-128, 128, SHAPE).astype(np.int8)}
    before, once = (Simulator(g).run(inputs)["y"].astype(int) for g in (graph, after))
    assert 0 < np.abs(before - once).max() <= 1


def test_other_readers_and_operators() -> None:
    """A pool does not rescale, and what is read elsewhere stays."""
    graph = convolution(QUANT, Quantization((0.05,), (9,)), CLAMPS[0])
    kept = assert_pass_keeps(graph.replace(outputs=("y", "a")), fuse_requantize)
    assert len(kept.ops) == 2
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.op("max_pool2d", ["x"], "a", PoolParams((2, 2)))
    sketch.op("requantize", ["a"], "y", QuantizeParams(), quant=Quantization((0.05,), (9,)))
    assert len(assert_pass_keeps(sketch.graph(["y"]), fuse_requantize).ops) == 2


@pytest.mark.parametrize("kind", ["add", "sub", "mul"])
def test_arithmetic(kind: str) -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.input("z", SHAPE, Quantization((0.04,), (-9,)))
    sketch.op(kind, ["x", "z"], "a", ArithmeticParams((-2.0, 5.0)))
    sketch.op("requantize", ["a"], "y", QuantizeParams(), quant=Quantization((0.05,), (100,)))
    assert kinds(assert_pass_keeps(sketch.graph(["y"]), fuse_requantize)) == [kind]


def test_whatever_rescales_has_a_clamp() -> None:
    assert len(list(rescales)) > 4
    for kind in rescales:
        assert "clamp" in {field.name for field in fields(params[kind])}
        assert kernels_of(kind, "reference")
