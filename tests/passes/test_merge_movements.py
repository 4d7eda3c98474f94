"""Movements of movements become one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.graph import Graph, Quantization
from compiler.operators.movement import (
    ConcatParams,
    PadParams,
    SliceParams,
    TransposeParams,
)
from compiler.passes.merge_movements import merge_movements, merged
from tests.support.graphs import QUANT, Sketch, assert_pass_keeps, kinds

SHAPE = (2, 5, 6, 3)


def pair(kind: str, first: Any, second: Any, quant: Quantization | None = None) -> Graph:
    """One operator, and another of its kind on the result."""
    sketch = Sketch()
    sketch.input("x", SHAPE, quant)
    sketch.op(kind, ["x"], "a", first)
    sketch.op(kind, ["a"], "y", second)
    return sketch.graph(["y"])


def test_transposes() -> None:
    graph = pair("transpose", TransposeParams((0, 2, 3, 1)), TransposeParams((3, 0, 1, 2)))
    after = assert_pass_keeps(graph, merge_movements)
    assert kinds(after) == ["transpose"]
    assert after.ops[0].params == TransposeParams((1, 0, 2, 3))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.permutations(range(4)), st.permutations(range(4)))
def test_any_transposes(first: Sequence[int], second: Sequence[int]) -> None:
    graph = pair("transpose", TransposeParams(tuple(first)), TransposeParams(tuple(second)))
    assert len(assert_pass_keeps(graph, merge_movements, runs=1).ops) == 1


@st.composite
def slices(draw: st.DrawFn, shape: Sequence[int]) -> SliceParams:
    begin, size, stride = [], [], []
    for extent in shape:
        step = draw(st.sampled_from([1, 2, 3, -1, -2]))
        start = draw(st.integers(0, extent - 1))
        room = (extent - 1 - start if step > 0 else start) // abs(step)
        begin.append(start)
        size.append(1 + draw(st.integers(0, room)))
        stride.append(step)
    return SliceParams(tuple(begin), tuple(size), tuple(stride))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_any_slices(data: st.DataObject) -> None:
    first = data.draw(slices(SHAPE))
    second = data.draw(slices(first.size))
    after = assert_pass_keeps(pair("slice", first, second), merge_movements, runs=1)
    assert kinds(after) == ["slice"]


@pytest.mark.parametrize(
    ("value", "mode", "count"), [(0.5, "constant", 1), (0.7, "constant", 2), (0.5, "edge", 2)]
)
@pytest.mark.parametrize("quant", [None, QUANT])
def test_pads(value: float, mode: str, count: int, quant: Quantization | None) -> None:
    first = PadParams((0, 1, 2, 0), (0, 0, 1, 0), value=0.5)
    second = PadParams((0, 0, 1, 1), (1, 0, 0, 0), mode, value)
    after = assert_pass_keeps(pair("pad", first, second, quant), merge_movements)
    assert len(after.ops) == count


def test_another_reader_keeps_the_first() -> None:
    graph = pair("transpose", TransposeParams((0, 2, 3, 1)), TransposeParams((3, 0, 1, 2)))
    after = assert_pass_keeps(graph.replace(outputs=("y", "a")), merge_movements)
    assert after.ops[1].inputs == ("a",)


def test_every_kind_is_tested() -> None:
    assert list(merged) == ["pad", "slice", "transpose"]


def concats(axis: int, quant: Quantization | None = QUANT, twice: bool = False) -> Graph:
    sketch = Sketch()
    for name in "xyz":
        sketch.input(name, SHAPE, QUANT)
    sketch.op("concat", ["x", "y"], "inner", ConcatParams(3), quant=quant)
    outer = ["z", "inner", "inner"] if twice else ["z", "inner"]
    sketch.op("concat", outer, "out", ConcatParams(axis), quant=QUANT)
    return sketch.graph(["out"])


def test_concats() -> None:
    after = assert_pass_keeps(concats(3), merge_movements)
    assert kinds(after) == ["concat"]
    assert after.ops[0].inputs == ("z", "x", "y")


def test_concats_that_differ() -> None:
    """Of other scales, which requantizes; or twice the same part."""
    for graph in (concats(3, Quantization((0.07,), (0,))), concats(3, twice=True)):
        assert len(assert_pass_keeps(graph, merge_movements).ops) == 2


def test_concats_along_other_axes() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.constant("c", np.ones(SHAPE))
    sketch.op("concat", ["x", "c"], "inner", ConcatParams(3))
    sketch.op("concat", ["inner", "inner"], "out", ConcatParams(1))
    after = assert_pass_keeps(sketch.graph(["out"]), merge_movements)
    assert kinds(after) == ["concat", "concat"]
