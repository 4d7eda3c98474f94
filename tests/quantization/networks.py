"""Small float networks, built as graphs, and how well their int8 versions follow them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from compiler import registry
from compiler.graph import Graph, Op, Shape, Tensor
from compiler.invariants import check_graph
from compiler.loading import load_builtins
from compiler.quantization import calibrate, quantize_int8
from compiler.simulator import Simulator

load_builtins()


@dataclass
class Network:
    """Grows a float32 graph with one input ``x``."""

    input_shape: Shape
    seed: int = 0
    tensors: dict[str, Tensor] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.tensors["x"] = Tensor("x", self.input_shape, "float32")

    def constant(self, *shape: int, scale: float = 1.0) -> str:
        """A constant of normal noise."""
        return self.value(self.random.normal(size=shape) * scale)

    def value(self, array: np.ndarray) -> str:
        name = f"constant{len(self.tensors)}"
        data = np.asarray(array, np.float32)
        self.tensors[name] = Tensor(name, data.shape, "float32", data=data)
        return name

    def add(self, kind: str, *inputs: str, dtype: str = "float32", **parameters: object) -> str:
        """Append an operator with one output; returns that."""
        name = f"{kind}{len(self.ops)}"
        params = registry.params[kind](**parameters)
        op = Op(kind, name, inputs, (name,), params)
        self.tensors[name] = Tensor(name, (), dtype)
        ((shape, dtype),) = registry.shape[kind](self.graph([]).view(op))
        self.tensors[name] = Tensor(name, tuple(shape), dtype)
        self.ops.append(op)
        return name

    def graph(self, outputs: Sequence[str]) -> Graph:
        return Graph("test", dict(self.tensors), tuple(self.ops), ("x",), tuple(outputs))

    def samples(self, count: int = 16) -> list[dict[str, np.ndarray]]:
        return [
            {"x": self.random.normal(size=self.input_shape).astype(np.float32)}
            for _ in range(count)
        ]


def quantized(graph: Graph, samples: Sequence[Mapping[str, np.ndarray]], method: str) -> Graph:
    result = quantize_int8(graph, calibrate(graph, samples, method))
    check_graph(result)
    return result


def sqnr_db(graph: Graph, other: Graph, samples: Iterable[Mapping[str, np.ndarray]]) -> float:
    """Signal to quantization noise of the outputs, in dB."""
    reference, candidate = Simulator(graph), Simulator(other)
    signal = noise = 0.0
    for sample in samples:
        wanted, found = reference.run(sample), candidate.run(sample)
        for name in graph.outputs:
            signal += float(np.square(wanted[name], dtype=np.float64).sum())
            noise += float(np.square(wanted[name] - found[name], dtype=np.float64).sum())
    return float(10 * np.log10(signal / noise))


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.ops]


def quant_of(graph: Graph, name: str) -> tuple[float, int]:
    tensor = graph.tensors[name]
    assert tensor.quant is not None
    return tensor.scale, tensor.zero_point
