"""Duplicates merge, chains of views shorten, dead operators go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from compiler.graph import Op
from compiler.operators.elementwise import ArithmeticParams, UnaryParams
from compiler.operators.movement import ReshapeParams, TransposeParams
from compiler.passes.merge_duplicates import merge_duplicates
from compiler.passes.merge_views import merge_views
from compiler.passes.remove_dead_code import remove_dead_code
from tests.support.graphs import Sketch, assert_pass_keeps, kinds


def test_common_subexpressions() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 3))
    for side in "ab":
        sketch.constant(f"c{side}", np.arange(3.0))
        sketch.op("mul", ["x", f"c{side}"], f"m{side}", ArithmeticParams())
        sketch.op("neg", [f"m{side}"], f"n{side}", UnaryParams())
    sketch.op("add", ["na", "nb"], "y", ArithmeticParams())
    after = assert_pass_keeps(sketch.graph(["y"]), merge_duplicates)
    assert kinds(after) == ["mul", "neg", "add"]
    assert after.ops[-1].inputs == ("na", "na")
    assert sum(tensor.is_constant for tensor in after.tensors.values()) == 1


def test_what_differs_stays() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 3))
    sketch.constant("c", np.arange(3.0))
    sketch.constant("d", np.arange(1.0, 4.0))
    sketch.op("mul", ["x", "c"], "a", ArithmeticParams())
    sketch.op("mul", ["x", "d"], "b", ArithmeticParams())
    sketch.op("mul", ["x", "c"], "e", ArithmeticParams(clamp=(0.0, 1.0)))
    sketch.op("add", ["a", "b"], "f", ArithmeticParams())
    sketch.op("add", ["f", "e"], "y", ArithmeticParams())
    after = assert_pass_keeps(sketch.graph(["y"]), merge_duplicates)
    assert len(after.ops) == 5


def test_outputs_keep_their_own() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 3))
    sketch.op("neg", ["x"], "y", UnaryParams())
    sketch.op("neg", ["x"], "z", UnaryParams())
    after = assert_pass_keeps(sketch.graph(["y", "z"]), merge_duplicates)
    assert kinds(after) == ["neg", "neg"]


def test_views_of_views() -> None:
    sketch = Sketch()
    sketch.input("x", (1, 2, 1, 3))
    sketch.op("neg", ["x"], "a", UnaryParams())
    sketch.op("transpose", ["a"], "b", TransposeParams((2, 1, 0, 3)))
    sketch.op("reshape", ["b"], "c", ReshapeParams((6,)))
    sketch.op("reshape", ["c"], "d", ReshapeParams((2, 3)))
    sketch.op("transpose", ["d"], "e", TransposeParams((1, 0)))
    sketch.op("neg", ["e"], "y", UnaryParams())
    graph = sketch.graph(["y"])
    after = assert_pass_keeps(graph, lambda g: remove_dead_code(merge_views(g)))
    assert kinds(after) == ["neg", "reshape", "transpose", "neg"]


def test_dead_code() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 3))
    sketch.input("unused", (2, 3))
    sketch.op("neg", ["x"], "y", UnaryParams())
    sketch.op("neg", ["y"], "dead", UnaryParams())
    sketch.op("abs", ["dead"], "deader", UnaryParams())
    after = assert_pass_keeps(sketch.graph(["y"]), remove_dead_code)
    assert kinds(after) == ["neg"]
    assert after.inputs == ("x", "unused")


def test_what_writes_a_state_is_alive() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 3))
    sketch.op("neg", ["x"], "y", UnaryParams())
    graph = sketch.graph(["y"])
    state = replace(graph.tensors["x"], name="state", is_state=True)
    write = Op("abs", "state", ("x",), ("state",), UnaryParams())
    graph = graph.with_ops((*graph.ops, write), [state])
    assert kinds(remove_dead_code(graph)) == ["neg", "abs"]
