"""Puts a graph together operator by operator; what only depends on constants folds at once.

So arithmetic on shapes, or a cast of float16 weights, is a plain constant by the time that the
operator that needs it is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from compiler.errors import ModelError
from compiler.folding import fold
from compiler.graph import DTYPE_BYTES, Graph, Op, OpView, Quantization, Shape, Tensor
from compiler.operators.state import AssignStateParams
from compiler.registry import shape as output_shapes

#: No tensor may have more elements than a 32-bit offset reaches.
ELEMENT_LIMIT = 2**31 - 1


class GraphBuilder:
    """Tensors and operators so far. Every operator must come after what it reads."""

    def __init__(self, name: str) -> None:
        self._tensors: dict[str, Tensor] = {}
        self._ops: list[Op] = []
        self._graph = Graph(name, self._tensors, (), (), ())

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name]

    def fresh(self, stem: str) -> str:
        """``stem``, or ``stem_1``, ``stem_2``, ... where it is taken."""
        name, count = stem, 0
        while name in self._tensors:
            count += 1
            name = f"{stem}_{count}"
        return name

    def define(self, tensor: Tensor) -> Tensor:
        """Add a model input, a state or a constant."""
        check_tensor(tensor)
        if tensor.name in self._tensors:
            raise ModelError(f"tensor '{tensor.name}': defined twice; each needs its own name")
        self._tensors[tensor.name] = tensor
        return tensor

    def constant(self, stem: str, data: np.ndarray, quant: Quantization | None = None) -> Tensor:
        """Add a constant under a name that is still free."""
        data = np.ascontiguousarray(data)
        return self.define(Tensor(self.fresh(stem), data.shape, data.dtype.name, quant, data))

    def add(
        self,
        kind: str,
        inputs: Sequence[Tensor | None],
        params: Any,
        outputs: Iterable[Tensor],
        name: str | None = None,
        states: Sequence[Tensor] = (),
    ) -> tuple[Tensor, ...]:
        """Add an operator; its outputs come back with inferred shapes, or as constants.

        ``outputs`` give names, dtypes and quantization; their shapes do not matter. ``states``,
        which are defined, are further outputs.
        """
        outputs = tuple(outputs)
        op = Op(
            kind,
            outputs[0].name if name is None else name,
            tuple("" if tensor is None else tensor.name for tensor in inputs),
            tuple(tensor.name for tensor in (*outputs, *states)),
            params,
        )
        for tensor in outputs:
            if tensor.name in self._tensors:
                raise ModelError(f"tensor '{tensor.name}': two operators write it; one may")
        self._tensors.update({tensor.name: tensor for tensor in outputs})
        return self._settle(op, (*outputs, *states))

    def assign(self, value: Tensor, state: Tensor) -> None:
        """Let ``state``, which is defined, have this value in the next run."""
        op = Op("assign_state", state.name, (value.name,), (state.name,), AssignStateParams())
        output_shapes[op.kind](OpView(op, self._graph))
        self._ops.append(op)

    def finish(self, inputs: Iterable[str], outputs: Iterable[str], **details: Any) -> Graph:
        """The graph; ``details`` are further fields of Graph (labels, preprocessing)."""
        graph = self._graph.replace(inputs=tuple(inputs), outputs=tuple(outputs), **details)
        return graph.replace(tensors=dict(self._tensors)).with_ops(self._ops)

    def _settle(self, op: Op, outputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Infer the outputs' shapes, then fold or keep the operator."""
        inferred = output_shapes[op.kind](OpView(op, self._graph))
        outputs = tuple(
            self._checked(op, _of_shape(tensor, _plain(shape)), dtype)
            for tensor, (shape, dtype) in zip(outputs, inferred, strict=True)
        )
        self._tensors.update({tensor.name: tensor for tensor in outputs})
        folded = fold(OpView(op, self._graph))
        if folded is None:
            self._ops.append(op)
            return outputs
        self._tensors.update({tensor.name: tensor for tensor in folded})
        return folded

    def _checked(self, op: Op, tensor: Tensor, dtype: str) -> Tensor:
        if tensor.dtype != dtype:
            raise ModelError(
                f"operator '{op.name}' ({op.kind}): its output is declared {tensor.dtype}, but "
                f"its inputs give {dtype}; convert the model again"
            )
        return check_tensor(tensor)


def _of_shape(tensor: Tensor, shape: Shape) -> Tensor:
    """An output as it is inferred; a state is as it was defined."""
    if tensor.is_state and tensor.shape == shape:
        return tensor
    return replace(tensor, shape=shape, data=None)


def _plain(shape: Sequence[int]) -> Shape:
    return tuple(int(size) for size in shape)


def check_tensor(tensor: Tensor) -> Tensor:
    """The tensor itself; ModelError where its dtype or shape cannot be."""
    if tensor.dtype not in DTYPE_BYTES:
        raise ModelError(
            f"tensor '{tensor.name}': type {tensor.dtype} is not supported; known are "
            f"{', '.join(DTYPE_BYTES)}"
        )
    if any(size < 0 for size in tensor.shape) or tensor.elements > ELEMENT_LIMIT:
        raise ModelError(
            f"tensor '{tensor.name}': shape {list(tensor.shape)} must have sizes of 0 or more and "
            f"at most {ELEMENT_LIMIT} elements; bind it with --shape {tensor.name}=..."
        )
    return tensor
