"""Grows a graph operator by operator while a file is read: names, shapes and constants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from compiler import registry
from compiler.graph import Graph, Op, OpView, Quantization, Shape, Tensor
from compiler.importers.onnx_model.qdq import Origin
from compiler.operators.elementwise import CastParams
from compiler.operators.movement import ConcatParams, ReshapeParams, TransposeParams

MOST_PARTS = 48  # of one concat: a kernel call takes 64 operands


@dataclass
class Builder:
    """Tensors and operators so far. ``scope`` names what is being read, for new names."""

    reserved: set[str]  # names that the file gives, which no invented name may take
    tensors: dict[str, Tensor] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)
    scope: str = ""
    origins: dict[str, Origin] = field(default_factory=dict)  # of constants that were integers

    def fresh(self, suffix: str) -> str:
        """A new tensor name, ``scope/suffix`` or the like."""
        base = f"{self.scope}/{suffix}"
        name, count = base, 2
        while name in self.tensors or name in self.reserved:
            name, count = f"{base}_{count}", count + 1
        return name

    def add(self, tensor: Tensor) -> str:
        self.tensors[tensor.name] = tensor
        return tensor.name

    def constant(self, array: np.ndarray, suffix: str = "constant") -> str:
        data = np.ascontiguousarray(array).reshape(np.shape(array))
        return self.add(Tensor(self.fresh(suffix), data.shape, data.dtype.name, data=data))

    def like(self, name: str, value: float) -> str:
        """A scalar constant of the dtype of tensor ``name``."""
        return self.constant(np.asarray(value, self.tensors[name].dtype), "scalar")

    def shape(self, name: str) -> Shape:
        return self.tensors[name].shape

    def data(self, name: str) -> np.ndarray | None:
        """The value of a constant, None of anything else."""
        return self.tensors[name].data

    def sources(self, name: str) -> list[str]:
        """The graph's inputs that the tensor is computed from, in the order of ``tensors``."""
        wanted = {name}
        for op in reversed(self.ops):
            if wanted.intersection(op.outputs):
                wanted.update(op.inputs)
        made = {output for op in self.ops for output in op.outputs}
        return [n for n, t in self.tensors.items() if n in wanted - made and t.data is None]

    def emit_all(
        self,
        kind: str,
        inputs: Iterable[str],
        params: Any = None,
        dtype: str | None = None,
        quant: Quantization | None = None,
    ) -> tuple[str, ...]:
        """Append an operator; returns the names of all its outputs.

        Their shapes come from the operator's ``shape`` attribute; ``dtype``, where the operator
        does not fix it, is that of the first input unless given. What only moves elements keeps
        their scale.
        """
        params = registry.params[kind]() if params is None else params
        inputs = tuple(inputs)
        draft = self.add(Tensor(self.fresh(kind), (), dtype or self.tensors[inputs[0]].dtype))
        op = Op(kind, self.scope, inputs, (draft,), params)
        specs = registry.shape[kind](OpView(op, Graph("", self.tensors, (), (), ())))
        del self.tensors[draft]
        first = self.tensors[inputs[0]]
        if registry.op_class.get(kind) in ("view", "movement") or kind == "max_pool2d":
            quant = quant or first.quant
        outputs = tuple(
            self.add(
                Tensor(self.fresh(kind), tuple(map(int, shape)), dtype,
                       quant if dtype != "float32" else None)
            )
            for shape, dtype in specs
        )  # fmt: skip
        self.ops.append(Op(kind, self.scope, inputs, outputs, params))
        return outputs

    def emit(self, kind: str, *inputs: str, params: Any = None, dtype: str | None = None) -> str:
        """Append an operator with one output; returns its name."""
        (output,) = self.emit_all(kind, inputs, params, dtype)
        return output

    def quantized(self, name: str, quant: Quantization) -> str:
        """The same integers with this scale: an input of the graph is told so for good."""
        tensor = self.tensors[name]
        if tensor.quant == quant:
            return name
        is_read = any(name in op.inputs for op in self.ops)
        if not is_read and not any(name in op.outputs for op in self.ops):
            self.tensors[name] = replace(tensor, quant=quant)
            return name
        return self._renamed(name, quant)

    def plain(self, name: str) -> str:
        """The same integers, standing for themselves."""
        return name if self.tensors[name].quant is None else self._renamed(name, None)

    def _renamed(self, name: str, quant: Quantization | None) -> str:
        tensor = replace(self.tensors[name], name=self.fresh("view"), quant=quant)
        self.add(tensor)
        params = ReshapeParams(tensor.shape)
        self.ops.append(Op("reshape", self.scope, (name,), (tensor.name,), params))
        return tensor.name

    def cast(self, name: str, dtype: str) -> str:
        """``name`` in another dtype; of a constant at once, of the same dtype itself."""
        data = self.data(name)
        if self.tensors[name].dtype == dtype:
            return name
        if data is not None:
            return self.constant(data.astype(dtype), "cast")
        return self.emit("cast", name, params=CastParams(dtype), dtype=dtype)

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """``name`` in another shape, -1 for what remains; of a constant at once."""
        shape = tuple(int(size) for size in shape)
        if -1 in shape:
            rest = math.prod(self.shape(name)) // -math.prod(shape)
            shape = tuple(rest if size == -1 else size for size in shape)
        data = self.data(name)
        if shape == self.shape(name):
            return name
        if data is not None:
            return self._same_origin(name, self.constant(data.reshape(shape), "reshape"))
        return self.emit("reshape", name, params=ReshapeParams(shape))

    def concat(self, parts: Sequence[str], axis: int) -> str:
        """``parts`` joined along ``axis``, of constants at once; many of them in several steps."""
        arrays = [self.data(part) for part in parts]
        known = [array for array in arrays if array is not None]
        if len(known) == len(parts):
            return self.constant(np.concatenate(known, axis), "joined")
        while len(parts) > 1:
            groups = [parts[i : i + MOST_PARTS] for i in range(0, len(parts), MOST_PARTS)]
            parts = [
                group[0] if len(group) == 1 else self.emit(
                    "concat", *group, params=ConcatParams(axis)
                )
                for group in groups
            ]  # fmt: skip
        return parts[0]

    def _same_origin(self, name: str, moved: str) -> str:
        if name in self.origins:
            self.origins[moved] = self.origins[name]
        return moved

    def transpose(self, name: str, permutation: Sequence[int]) -> str:
        """Output axis i is input axis ``permutation[i]``; of a constant at once."""
        permutation = tuple(permutation)
        data = self.data(name)
        if permutation == tuple(range(len(permutation))):
            return name
        if data is not None:
            return self._same_origin(
                name, self.constant(data.transpose(permutation), "transpose")
            )
        return self.emit("transpose", name, params=TransposeParams(permutation))

    def channels_last(self, name: str) -> str:
        """(N, C, ...) to (N, ..., C)."""
        rank = len(self.shape(name))
        return self.transpose(name, (0, *range(2, rank), 1))

    def channels_first(self, name: str) -> str:
        """(N, ..., C) to (N, C, ...)."""
        rank = len(self.shape(name))
        return self.transpose(name, (0, rank - 1, *range(1, rank - 1)))
