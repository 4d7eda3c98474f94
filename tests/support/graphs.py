"""Small graphs for tests of passes, and the check that a pass changes no result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from compiler.graph import Graph, Op, OpView, Quantization, Tensor
from compiler.invariants import check_graph
from compiler.loading import load_builtins
from compiler.registry import Pass
from compiler.registry import shape as output_shapes
from compiler.simulator import Simulator
from tests.support.tflite_check import assert_equal, random_array

QUANT = Quantization((0.05,), (3,))


class Sketch:
    """A graph put together by name; shapes are inferred, nothing folds."""

    def __init__(self) -> None:
        load_builtins()
        self.tensors: dict[str, Tensor] = {}
        self.ops: list[Op] = []
        self.inputs: list[str] = []

    def input(self, name: str, shape: Sequence[int], quant: Quantization | None = None) -> str:
        """A model input: int8 where ``quant`` is given, else float32."""
        dtype = "int8" if quant else "float32"
        self.tensors[name] = Tensor(name, tuple(shape), dtype, quant)
        self.inputs.append(name)
        return name

    def constant(
        self, name: str, data: np.ndarray | float, quant: Quantization | None = None
    ) -> str:
        array = np.asarray(data)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        self.tensors[name] = Tensor(name, array.shape, array.dtype.name, quant, array)
        return name

    def op(self, kind: str, inputs: Sequence[str], output: str, params: Any, **fields: Any) -> str:
        """Add an operator; ``fields`` (dtype, quant) say how its output differs from input 0."""
        first = self.tensors[inputs[0]]
        draft = replace(first, name=output, data=None, is_state=False, **fields)
        self.tensors[output] = draft
        op = Op(kind, output, tuple(inputs), (output,), params)
        ((shape, dtype),) = output_shapes[kind](OpView(op, self.graph([])))
        self.tensors[output] = replace(draft, shape=tuple(shape), dtype=dtype)
        self.ops.append(op)
        return output

    def graph(self, outputs: Sequence[str]) -> Graph:
        return Graph(
            "sketch", dict(self.tensors), tuple(self.ops), tuple(self.inputs), tuple(outputs)
        )


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.ops]


def assert_pass_keeps(graph: Graph, each: Pass, tolerance: float = 0.0, runs: int = 4) -> Graph:
    """``each(graph)``, sound and with the same inputs, outputs and results."""
    check_graph(graph)
    after = each(graph)
    check_graph(after)
    assert (after.inputs, after.outputs) == (graph.inputs, graph.outputs)
    random = np.random.default_rng(7)
    for _ in range(runs):
        inputs = {name: random_array(graph.tensors[name], random) for name in graph.inputs}
        wanted = Simulator(graph).run(inputs)
        for name, value in Simulator(after).run(inputs).items():
            assert_equal(value, wanted[name], tolerance)
    return after
