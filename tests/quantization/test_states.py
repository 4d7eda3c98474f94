"""States of a float graph become int8 with what is assigned to them."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.graph import Graph, Op, Tensor
from compiler.invariants import check_graph
from compiler.operators.elementwise import ArithmeticParams, UnaryParams
from compiler.operators.movement import ConcatParams, SliceParams
from compiler.operators.state import AssignStateParams
from compiler.quantization import calibrate, quantize_int8
from compiler.simulator import Simulator
from tests.support.graphs import Sketch


def ring(initial: float, last: str = "abs") -> Graph:
    """The last four inputs, of which the oldest is returned; exp stays float."""
    sketch = Sketch()
    x = sketch.input("x", (1, 2))
    data = np.full((1, 6), initial, np.float32)
    sketch.tensors["s"] = Tensor("s", (1, 6), "float32", data=data, is_state=True)
    whole = sketch.op("concat", ["s", x], "whole", ConcatParams(1))
    oldest = sketch.op("slice", [whole], "oldest", SliceParams((0, 0), (1, 2), (1, 1)))
    y = sketch.op(last, [oldest], "y", UnaryParams())
    kept = sketch.op("slice", [whole], "kept", SliceParams((0, 2), (1, 6), (1, 1)))
    sketch.ops.append(Op("assign_state", "s", (kept,), ("s",), AssignStateParams()))
    return sketch.graph([y])


def series(count: int) -> list[dict[str, np.ndarray]]:
    random = np.random.default_rng(1)
    return [{"x": random.uniform(-2, 2, (1, 2)).astype(np.float32)} for _ in range(count)]


@pytest.mark.parametrize("last", ["abs", "exp"])
@pytest.mark.parametrize("initial", [0.0, -1.5, 7.0])
def test_state_is_int8(initial: float, last: str) -> None:
    graph = ring(initial, last)
    quantized = quantize_int8(graph, calibrate(graph, series(50)))
    check_graph(quantized)
    state = quantized.tensors["s"]
    assert state.is_state and state.dtype == "int8" and state.data is not None
    assert state.quant is not None
    real = (state.data.astype(int) - state.zero_point) * state.scale
    np.testing.assert_allclose(real, initial, atol=state.scale)
    runs = Simulator(graph), Simulator(quantized)
    for x in series(12):
        wanted, found = (run.run(x)["y"] for run in runs)
        np.testing.assert_allclose(found, wanted, rtol=0.03, atol=0.05)


def test_a_state_that_a_float_operator_writes_stays_float() -> None:
    """exp has no integer form here; the add that reads the state has."""
    sketch = Sketch()
    x = sketch.input("x", (1, 4))
    zeros = np.zeros((1, 4), np.float32)
    sketch.tensors["s"] = Tensor("s", (1, 4), "float32", data=zeros, is_state=True)
    y = sketch.op("add", ["s", x], "y", ArithmeticParams())
    sketch.ops.append(Op("sin", "s", (x,), ("s",), UnaryParams()))
    graph = sketch.graph([y])
    samples = [{"x": np.random.default_rng(i).uniform(-1, 1, (1, 4)).astype(np.float32)}
               for i in range(20)]  # fmt: skip
    quantized = quantize_int8(graph, calibrate(graph, samples))
    check_graph(quantized)
    assert quantized.tensors["s"].dtype == "float32"
    assert any(op.kind == "add" and quantized.view(op).output().dtype == "int8"
               for op in quantized.ops)  # fmt: skip
    runs = Simulator(graph), Simulator(quantized)
    for sample in samples:
        wanted, found = (run.run(sample)["y"] for run in runs)
        np.testing.assert_allclose(found, wanted, atol=0.05)
