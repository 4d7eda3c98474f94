"""The program that is compiled: frozen tensors and operators in topological order.

Layout is NHWC, shapes are static, convolution weights are OHWI. A quantized tensor holds
integers ``q`` that mean ``scale * (q - zero_point)``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Shape = tuple[int, ...]

#: Element size in bytes of every dtype that a tensor may have. The name is numpy's.
DTYPE_BYTES: Mapping[str, int] = {
    "float32": 4, "float16": 2, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2,
    "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "bool": 1, "float64": 8,
}  # fmt: skip

#: The clamp that changes nothing.
NO_CLAMP: tuple[float, float] = (-math.inf, math.inf)


@dataclass(frozen=True)
class Quantization:
    """``real = scale[c] * (q - zero_point[c])``, c along ``axis`` (one entry if per tensor)."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int | None = None

    @property
    def per_channel(self) -> bool:
        return len(self.scale) > 1


@dataclass(frozen=True, eq=False)
class Tensor:
    """A named value. ``data`` is set for constants; ``is_state`` persists between runs.

    A state tensor's ``data`` is its initial value.
    """

    name: str
    shape: Shape
    dtype: str
    quant: Quantization | None = None
    data: np.ndarray | None = None
    is_state: bool = False

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * DTYPE_BYTES[self.dtype]

    @property
    def is_constant(self) -> bool:
        return self.data is not None and not self.is_state

    @property
    def scale(self) -> float:
        """Per-tensor scale; raises if the tensor is not quantized."""
        assert self.quant is not None, self.name
        return self.quant.scale[0]

    @property
    def zero_point(self) -> int:
        """Per-tensor zero point; 0 if the tensor is not quantized."""
        return self.quant.zero_point[0] if self.quant else 0


@dataclass(frozen=True, eq=False)
class Op:
    """One operator. ``kind`` is its registered name, ``params`` its frozen dataclass.

    An optional input that is absent has the name ``""``. ``name`` is for people: the name of
    the node in the file, or of its first output.
    """

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    params: Any = None


@dataclass(frozen=True)
class Preprocessing:
    """What the model file says about its image input: ``(pixel - mean) / std`` per channel."""

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)


@dataclass(frozen=True, eq=False)
class Graph:
    """Operators in topological order over named tensors.

    ``numerics`` is the declared profile, ``"tflite"`` or ``"fast"``.
    """

    name: str
    tensors: Mapping[str, Tensor]
    ops: tuple[Op, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    numerics: str = "tflite"
    labels: tuple[str, ...] = ()
    preprocessing: Mapping[str, Preprocessing] = field(default_factory=dict)

    def replace(self, **changes: Any) -> Graph:
        return replace(self, **changes)

    def view(self, op: Op) -> OpView:
        return OpView(op, self)

    def producers(self) -> dict[str, Op]:
        return {name: op for op in self.ops for name in op.outputs}

    def consumers(self) -> dict[str, list[Op]]:
        """Every reader of each tensor; an operator that reads one twice is listed once."""
        users: dict[str, list[Op]] = {name: [] for name in self.tensors}
        for op in self.ops:
            for name in dict.fromkeys(op.inputs):
                if name:
                    users[name].append(op)
        return users

    def with_ops(self, ops: Iterable[Op], new_tensors: Iterable[Tensor] = ()) -> Graph:
        """The graph with other operators; tensors that nothing names any more are dropped."""
        ops = tuple(ops)
        known = {**self.tensors, **{t.name: t for t in new_tensors}}
        used = {n for op in ops for n in (*op.inputs, *op.outputs) if n}
        used.update(self.inputs, self.outputs)
        used.update(t.name for t in known.values() if t.is_state)
        return replace(
            self, ops=ops, tensors={name: t for name, t in known.items() if name in used}
        )


@dataclass(frozen=True, eq=False)
class OpView:
    """An operator together with its tensors: what attributes and kernels are given."""

    op: Op
    graph: Graph

    @property
    def params(self) -> Any:
        return self.op.params

    @property
    def numerics(self) -> str:
        return self.graph.numerics

    @property
    def inputs(self) -> tuple[Tensor | None, ...]:
        return tuple(self.graph.tensors[n] if n else None for n in self.op.inputs)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple(self.graph.tensors[n] for n in self.op.outputs)

    def input(self, index: int) -> Tensor:
        tensor = self.optional(index)
        assert tensor is not None, f"{self.op.kind} {self.op.name}: input {index} is absent"
        return tensor

    def optional(self, index: int) -> Tensor | None:
        return self.inputs[index] if index < len(self.op.inputs) else None

    def output(self, index: int = 0) -> Tensor:
        return self.outputs[index]
