"""Constants fold; what would grow the model does not."""

from __future__ import annotations

import numpy as np

from compiler.operators.elementwise import ArithmeticParams, UnaryParams
from compiler.operators.movement import BroadcastToParams, ReshapeParams
from compiler.passes.fold_constants import fold_constants
from tests.support.graphs import Sketch, assert_pass_keeps, kinds


def test_chain_of_constants() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 3))
    sketch.constant("c", np.arange(3.0))
    sketch.op("neg", ["c"], "minus", UnaryParams())
    sketch.op("reshape", ["minus"], "row", ReshapeParams((1, 3)))
    sketch.op("add", ["x", "row"], "y", ArithmeticParams())
    after = assert_pass_keeps(sketch.graph(["y"]), fold_constants)
    assert kinds(after) == ["add"]
    np.testing.assert_array_equal(after.tensors["row"].data, [[0, -1, -2]])


def test_constant_output() -> None:
    sketch = Sketch()
    sketch.constant("c", np.ones(3))
    sketch.op("neg", ["c"], "y", UnaryParams())
    after = assert_pass_keeps(sketch.graph(["y"]), fold_constants)
    assert kinds(after) == []


def test_large_results_stay_computed() -> None:
    sketch = Sketch()
    sketch.constant("c", np.ones((1, 1)))
    sketch.op("broadcast_to", ["c"], "y", BroadcastToParams((1000, 1000)))
    after = assert_pass_keeps(sketch.graph(["y"]), fold_constants)
    assert kinds(after) == ["broadcast_to"]
