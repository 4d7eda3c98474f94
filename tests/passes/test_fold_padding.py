"""Pads fold into what pads by the same value, and only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from compiler.graph import Graph, Quantization
from compiler.operators.convolution import Conv2dParams, DepthwiseConv2dParams
from compiler.operators.elementwise import ClampParams
from compiler.operators.movement import PadParams
from compiler.operators.pooling import PoolParams
from compiler.passes.fold_padding import fold_padding
from tests.support.graphs import QUANT, Sketch, assert_pass_keeps, kinds

RANDOM = np.random.default_rng(2)
PAD = PadParams((0, 1, 0, 0), (0, 2, 3, 0))


def convolution(pad: PadParams, quant: Quantization | None = None) -> Graph:
    """A pad, then a strided convolution with padding of its own; int8 with ``quant``."""
    sketch = Sketch()
    sketch.input("x", (1, 6, 5, 4), quant)
    if quant:
        weight = RANDOM.integers(-127, 128, (2, 3, 3, 4)).astype(np.int8)
        sketch.constant("w", weight, Quantization((0.01,), (0,)))
    else:
        sketch.constant("w", RANDOM.uniform(-1, 1, (2, 3, 3, 4)))
    sketch.op("pad", ["x"], "wide", pad)
    sketch.op("conv2d", ["wide", "w"], "y", Conv2dParams((2, 1), padding=(0, 1, 1, 0)),
              quant=Quantization((0.2,), (-5,)) if quant else None)  # fmt: skip
    return sketch.graph(["y"])


@pytest.mark.parametrize("quant", [None, QUANT])
def test_into_convolution(quant: Quantization | None) -> None:
    after = assert_pass_keeps(convolution(PAD, quant), fold_padding, tolerance=1e-6)
    assert kinds(after) == ["conv2d"]
    assert after.ops[0].params.padding == (1, 3, 1, 3)


@pytest.mark.parametrize(
    "pad",
    [
        PadParams((0, 1, 0, 0), (0, 0, 0, 0), value=1.0),
        PadParams((0, 1, 0, 0), (0, 0, 0, 0), mode="edge"),
        PadParams((1, 1, 0, 0), (0, 0, 0, 0)),
    ],
    ids=["value", "mode", "batch"],
)
def test_other_pads_stay(pad: PadParams) -> None:
    after = assert_pass_keeps(convolution(pad), fold_padding)
    assert kinds(after) == ["pad", "conv2d"]


def test_pad_that_requantizes_stays() -> None:
    graph = convolution(PAD, QUANT)
    other = replace(graph.tensors["wide"], quant=Quantization((0.06,), (3,)))
    graph = graph.replace(tensors={**graph.tensors, "wide": other})
    assert kinds(fold_padding(graph)) == ["pad", "conv2d"]


def test_channel_padding_stays() -> None:
    sketch = Sketch()
    sketch.input("x", (1, 4, 4, 2))
    sketch.constant("w", RANDOM.uniform(-1, 1, (1, 3, 3, 4)))
    sketch.op("pad", ["x"], "wide", PadParams((0, 0, 0, 1), (0, 0, 0, 1)))
    sketch.op("depthwise_conv2d", ["wide", "w"], "y", DepthwiseConv2dParams())
    after = assert_pass_keeps(sketch.graph(["y"]), fold_padding)
    assert kinds(after) == ["pad", "depthwise_conv2d"]


@pytest.mark.parametrize("quant", [None, QUANT])
@pytest.mark.parametrize(
    ("own", "counts", "folds"),
    [((0, 0, 0, 0), False, True), ((1, 0, 0, 1), True, True), ((1, 0, 0, 1), False, False)],
)
def test_average_pool(
    own: tuple[int, int, int, int], counts: bool, folds: bool, quant: Quantization | None
) -> None:
    """Its own padding is left out of the mean unless it says otherwise."""
    sketch = Sketch()
    sketch.input("x", (1, 5, 6, 3), quant)
    sketch.op("pad", ["x"], "wide", PAD)
    params = PoolParams((3, 2), padding=own, count_include_pad=counts)
    sketch.op("average_pool2d", ["wide"], "y", params)
    after = assert_pass_keeps(sketch.graph(["y"]), fold_padding, tolerance=1e-6)
    assert kinds(after) == (["average_pool2d"] if folds else ["pad", "average_pool2d"])


@pytest.mark.parametrize("quant", [None, QUANT])
@pytest.mark.parametrize(
    ("low", "value", "kernel", "folds"),
    [
        (0.0, 0.0, (3, 2), True), (0.0, -1.0, (3, 2), True), (0.0, 0.5, (3, 2), False),
        (-1.0, 0.0, (3, 2), False), (-1.0, -np.inf, (3, 2), True), (0.0, 0.0, (1, 1), False),
    ],
)  # fmt: skip
def test_max_pool(
    low: float, value: float, kernel: tuple[int, int], folds: bool, quant: Quantization | None
) -> None:
    """It leaves out what is outside: the same, where that is no more than any element."""
    sketch = Sketch()
    sketch.input("x", (1, 5, 6, 3), quant)
    sketch.op("clamp", ["x"], "positive", ClampParams(low, 1.0))
    sketch.op("pad", ["positive"], "wide", PadParams((0, 1, 0, 0), (0, 2, 1, 0), value=value))
    sketch.op("max_pool2d", ["wide"], "y", PoolParams(kernel, (2, 2)))
    after = assert_pass_keeps(sketch.graph(["y"]), fold_padding)
    assert kinds(after) == ["clamp", *(() if folds else ("pad",)), "max_pool2d"]


def test_max_pool_of_anything() -> None:
    sketch = Sketch()
    sketch.input("x", (1, 5, 6, 3))
    sketch.op("pad", ["x"], "wide", PAD)
    sketch.op("max_pool2d", ["wide"], "y", PoolParams((3, 2)))
    after = assert_pass_keeps(sketch.graph(["y"]), fold_padding)
    assert kinds(after) == ["pad", "max_pool2d"]


def test_pad_with_two_readers() -> None:
    """One folds, the other still needs the pad."""
    graph = convolution(PAD).replace(outputs=("y", "wide"))
    after = assert_pass_keeps(graph, fold_padding, tolerance=1e-6)
    assert kinds(after) == ["pad", "conv2d"]
    assert after.ops[1].inputs[0] == "x"


def test_useless_pad_disappears() -> None:
    """15x20 padded, 3x3 in steps of 2: one convolution, 8x10 out (nncase issue 99)."""
    sketch = Sketch()
    sketch.input("x", (1, 15, 20, 2))
    sketch.constant("w", RANDOM.uniform(-1, 1, (2, 3, 3, 2)))
    sketch.op("pad", ["x"], "wide", PadParams((0, 1, 1, 0), (0, 1, 1, 0)))
    sketch.op("conv2d", ["wide", "w"], "y", Conv2dParams((2, 2)))
    after = assert_pass_keeps(sketch.graph(["y"]), fold_padding, tolerance=1e-6)
    assert kinds(after) == ["conv2d"]
    assert after.tensors["y"].shape == (1, 8, 10, 2)
