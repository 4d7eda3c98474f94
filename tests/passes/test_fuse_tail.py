"""Zeros behind channels are read, not stored."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.graph import Graph
from compiler.operators.convolution import Conv2dParams
from compiler.operators.elementwise import ArithmeticParams, UnaryParams
from compiler.operators.movement import PadParams
from compiler.passes.fuse_elementwise import fuse_elementwise
from compiler.passes.fuse_tail import fuse_tail
from compiler.plan import plan
from compiler.scheduler import make_schedule
from compiler.target import target_chain
from tests.support.graphs import Sketch, assert_pass_keeps, kinds

SHAPE = (1, 5, 4, 6)
TAIL = PadParams((0, 0, 0, 0), (0, 0, 0, 3))


def arena_bytes(graph: Graph) -> int:
    return plan(make_schedule(graph, target_chain("reference"))).arena_bytes


def residual(pad: PadParams = TAIL, kind: str = "add", swapped: bool = False) -> Sketch:
    """x padded, plus a convolution of it, limited."""
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.constant("w", np.random.default_rng(1).uniform(-1, 1, (9, 1, 1, 6)))
    sketch.op("conv2d", ["x", "w"], "c", Conv2dParams())
    sketch.op("pad", ["x"], "wide", pad)
    sketch.op(kind, ["c", "wide"] if swapped else ["wide", "c"], "y", ArithmeticParams((0.0, 3.0)))
    return sketch


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", ["add", "sub", "mul"])
def test_a_sum_of_two_widths(kind: str, swapped: bool) -> None:
    before = residual(kind=kind, swapped=swapped).graph(["y"])
    after = assert_pass_keeps(before, fuse_tail)
    assert kinds(after) == ["conv2d", "elementwise_chain"]
    assert after.ops[1].params.tails == ((0, 3) if swapped else (3, 0))
    assert arena_bytes(after) < arena_bytes(before)


def test_with_what_follows() -> None:
    sketch = residual()
    sketch.op("tanh", ["y"], "z", UnaryParams())
    graph = sketch.graph(["z"])
    after = assert_pass_keeps(fuse_elementwise(graph), fuse_tail)
    assert kinds(after) == ["conv2d", "elementwise_chain"]
    assert arena_bytes(after) < arena_bytes(graph)


@pytest.mark.parametrize(
    "pad",
    [
        PadParams((0, 0, 0, 3), (0, 0, 0, 0)), PadParams((0, 0, 0, 0), (0, 0, 0, 3), value=1.0),
        PadParams((0, 0, 0, 0), (0, 0, 0, 3), mode="symmetric"),
    ],
)  # fmt: skip
def test_other_pads_stay(pad: PadParams) -> None:
    assert kinds(assert_pass_keeps(residual(pad).graph(["y"]), fuse_tail))[1] == "pad"


@pytest.mark.parametrize("also", ["wide", "c"])
def test_what_is_needed_elsewhere_stays(also: str) -> None:
    """The padded tensor, or the one that the sum would overwrite."""
    after = assert_pass_keeps(residual().graph(["y", also]), fuse_tail)
    assert kinds(after) == ["conv2d", "pad", "add"]


def test_all_padded() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.op("pad", ["x"], "wide", TAIL)
    sketch.op("tanh", ["wide"], "y", UnaryParams())
    assert kinds(assert_pass_keeps(sketch.graph(["y"]), fuse_tail)) == ["pad", "tanh"]
