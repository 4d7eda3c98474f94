"""Operators that no kernel does in a narrow type are done in the wide one, between casts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from compiler.errors import UnsupportedError
from compiler.graph import Graph, Op, Tensor
from compiler.operators.elementwise import CastParams
from compiler.passes.remove_dead_code import remove_dead_code
from compiler.registry import op_class
from compiler.schedule import choose_kernel

#: Arithmetic modulo 2^32 or 2^64, cut to the narrow type, is arithmetic in the narrow type.
WIDE: Mapping[str, str] = {
    "float16": "float32", "int8": "int32", "uint8": "int32", "int16": "int32",
}  # fmt: skip


def widen(graph: Graph, chain: Sequence[str]) -> Graph:
    """The graph with casts around what the targets of ``chain`` have only in a wide type.

    Quantized tensors stay. Between two such operators a float16 value is not rounded.
    """
    work = _Widening(graph, tuple(chain))
    ops = [each for op in graph.ops for each in work.ops_for(op)]
    if len(ops) == len(graph.ops):
        return graph
    return remove_dead_code(graph.with_ops(ops, work.tensors.values()))


@dataclass
class _Widening:
    graph: Graph
    chain: tuple[str, ...]
    tensors: dict[str, Tensor] = field(default_factory=dict)  # new ones
    twins: dict[str, str] = field(default_factory=dict)  # narrow tensor -> its wide one

    def ops_for(self, op: Op) -> Iterator[Op]:
        if self._has_kernel(self.graph, op) or op_class.get(op.kind) == "view":
            yield op
            return
        narrow = {n for n in (*op.inputs, *op.outputs) if n and self._is_narrow(n)}
        wide = {name: self._wide_name(name) for name in narrow}
        changed = replace(
            op,
            inputs=tuple(wide.get(n, n) for n in op.inputs),
            outputs=tuple(wide.get(n, n) for n in op.outputs),
        )
        trial = self.graph.replace(
            tensors={**self.graph.tensors, **{w: self._wide_tensor(n) for n, w in wide.items()}}
        )
        if not narrow or not self._has_kernel(trial, changed):
            yield op
            return
        for name in dict.fromkeys(op.inputs):
            if name in wide and wide[name] not in self.tensors:
                yield from self._widened(op, name)
        yield changed
        for name in op.outputs:
            if name in wide:
                yield self._narrowed(op, name)

    def _has_kernel(self, graph: Graph, op: Op) -> bool:
        try:
            choose_kernel(graph.view(op), self.chain)
        except UnsupportedError:
            return False
        return True

    def _is_narrow(self, name: str) -> bool:
        tensor = self.graph.tensors[name]
        return tensor.dtype in WIDE and tensor.quant is None and not tensor.is_state

    def _wide_name(self, name: str) -> str:
        if name not in self.twins:
            wide, count = f"{name}/wide", 2
            while wide in self.graph.tensors or wide in self.tensors:
                wide, count = f"{name}/wide_{count}", count + 1
            self.twins[name] = wide
        return self.twins[name]

    def _wide_tensor(self, name: str) -> Tensor:
        tensor = self.graph.tensors[name]
        dtype = WIDE[tensor.dtype]
        data = None if tensor.data is None else np.asarray(tensor.data).astype(dtype)
        return replace(tensor, name=self._wide_name(name), dtype=dtype, data=data)

    def _widened(self, op: Op, name: str) -> Iterator[Op]:
        """The cast of an input; a constant is cast here and now."""
        tensor = self.tensors[self._wide_name(name)] = self._wide_tensor(name)
        if tensor.data is None:
            yield Op("cast", op.name, (name,), (tensor.name,), CastParams(tensor.dtype))

    def _narrowed(self, op: Op, name: str) -> Op:
        """The cast of an output. A reader takes the wide float, but the narrow integer."""
        tensor = self._wide_tensor(name)
        self.tensors[tensor.name] = tensor
        narrow = self.graph.tensors[name].dtype
        if narrow != "float16":
            del self.twins[name]
        return Op("cast", op.name, (tensor.name,), (name,), CastParams(narrow))
