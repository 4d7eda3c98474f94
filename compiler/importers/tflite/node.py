"""What a lowering function is given: one operator of the file, and ways to put it in the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Quantization, Tensor
from compiler.importers.tflite.builder import GraphBuilder
from compiler.importers.tflite.model_file import FileOperator
from compiler.importers.tflite.schema import names_of, schema

Lowering = Callable[["Node"], None]
#: (number of a subgraph, its inputs, the caller's name) -> its outputs
Inline = Callable[[int, Sequence[Tensor], str], list[Tensor]]

_lowerings: dict[str, Lowering] = {}

#: Fused activations that are a clamp, in real units.
_CLAMPS = {
    "RELU": (0.0, float("inf")),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
}


def reads(*kinds: str) -> Callable[[Lowering], Lowering]:
    """Decorator: lowers the builtin operators of these names, or custom ones of these codes."""

    def register(lowering: Lowering) -> Lowering:
        for kind in kinds:
            if kind in _lowerings:
                raise ValueError(
                    f"TFLite operator '{kind}' is read twice: in {_lowerings[kind].__module__} "
                    f"and in {lowering.__module__}; remove one"
                )
            _lowerings[kind] = lowering
        return lowering

    return register


def lowering_of(kind: str) -> Lowering | None:
    return _lowerings.get(kind)


def readable() -> list[str]:
    """Names of every operator that can be read."""
    return sorted(_lowerings)


class Node:
    """One operator of the file with its inputs, whose shapes are known, and declared outputs."""

    def __init__(
        self,
        build: GraphBuilder,
        operator: FileOperator,
        inputs: tuple[Tensor | None, ...],
        outputs: tuple[Tensor, ...],
        inline: Inline | None = None,
        is_complex: bool = False,
    ) -> None:
        self.build = build
        self._inline = inline
        self.is_complex = is_complex  # inputs have one more axis, of real and imaginary parts
        self.operator = operator
        self.inputs = inputs
        self.outputs = outputs

    @property
    def kind(self) -> str:
        return self.operator.kind

    @property
    def name(self) -> str:
        return self.outputs[0].name if self.outputs else self.kind

    def optional(self, index: int) -> Tensor | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def input(self, index: int) -> Tensor:
        tensor = self.optional(index)
        if tensor is None:
            raise ModelError(f"input {index} is missing")
        return tensor

    def array(self, index: int, what: str) -> np.ndarray:
        """The value of a constant input. Raises UnsupportedError where it is computed."""
        tensor = self.input(index)
        if tensor.data is None:
            raise UnsupportedError(f"its {what} ('{tensor.name}') is not a constant")
        return tensor.data

    def integers(self, index: int, what: str) -> tuple[int, ...]:
        return tuple(int(value) for value in self.array(index, what).reshape(-1))

    def axis(self, value: int, rank: int) -> int:
        """A non-negative axis; ModelError where there is no such axis."""
        if not -rank <= value < rank:
            raise ModelError(f"axis {value} does not exist in {rank} dimensions")
        return value % rank

    def options(self, table_name: str) -> Any:
        """The operator's options as the schema's table of that name."""
        if self.operator.table is None or self.operator.options_type != table_name:
            raise ModelError(f"its options are not {table_name}")
        table = getattr(schema(), table_name)()
        table.Init(self.operator.table.Bytes, self.operator.table.Pos)
        return table

    def run_subgraph(self, number: int, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Append the operators of another subgraph of the file; returns its outputs."""
        if self._inline is None:
            raise UnsupportedError("control flow in an initialiser is not supported")
        return self._inline(number, inputs, self.name)

    def emit(self, kind: str, inputs: Sequence[Tensor | None], params: Any) -> None:
        """Append the operator that makes this node's outputs."""
        self.build.add(kind, inputs, params, self.outputs, self.name)

    def inner(
        self,
        kind: str,
        inputs: Sequence[Tensor | None],
        params: Any,
        like: Tensor | None = None,
    ) -> Tensor:
        """Append an operator in between; its output has the dtype and scales of ``like``.

        ``like`` is the first input unless given.
        """
        model = like if like is not None else inputs[0]
        assert model is not None
        name = self.build.fresh(f"{self.name}/{kind}")
        output = Tensor(name, (), model.dtype, model.quant)
        return self.build.add(kind, inputs, params, (output,), name)[0]

    def update(
        self, kind: str, inputs: Sequence[Tensor | None], params: Any, states: Sequence[Tensor]
    ) -> None:
        """As ``emit``, for an operator that also writes ``states``, behind its outputs."""
        self.build.add(kind, inputs, params, self.outputs, self.name, states)

    def update_inner(
        self,
        kind: str,
        inputs: Sequence[Tensor | None],
        params: Any,
        states: Sequence[Tensor],
        like: Tensor,
    ) -> Tensor:
        """As ``inner``, for an operator that also writes ``states``."""
        name = self.build.fresh(f"{self.name}/{kind}")
        output = Tensor(name, (), like.dtype, like.quant)
        return self.build.add(kind, inputs, params, (output,), name, states)[0]

    def constant(self, what: str, data: np.ndarray, quant: Quantization | None = None) -> Tensor:
        return self.build.constant(f"{self.name}/{what}", data, quant)

    def result(self, data: np.ndarray) -> None:
        """The output is this constant."""
        data = np.ascontiguousarray(data, self.outputs[0].dtype).reshape(np.shape(data))
        self.build.define(dataclasses.replace(self.outputs[0], shape=data.shape, data=data))

    def emit_activated(
        self, kind: str, inputs: Sequence[Tensor | None], params: Any, activation: int
    ) -> None:
        """As ``emit``, with one of the file's fused activations, as a clamp where it is one."""
        name = names_of("ActivationFunctionType").get(activation, f"activation {activation}")
        if name == "NONE":
            self.emit(kind, inputs, params)
        elif name in _CLAMPS and hasattr(params, "clamp"):
            self.emit(kind, inputs, dataclasses.replace(params, clamp=_CLAMPS[name]))
        elif name == "TANH" and self.outputs[0].quant is None:
            self._emit_tanh(kind, inputs, params)
        else:
            raise UnsupportedError(f"fused activation {name} is not supported")

    def _emit_tanh(self, kind: str, inputs: Sequence[Tensor | None], params: Any) -> None:
        from compiler.operators.elementwise import UnaryParams

        before = self.inner(kind, inputs, params, like=self.outputs[0])
        self.emit("tanh", (before,), UnaryParams())
