"""Operators and constants that are the same are kept once."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable

from compiler.graph import Graph, Op, Tensor
from compiler.passes.rewrite import Aliases


def merge_duplicates(graph: Graph) -> Graph:
    """Common subexpressions and equal constants, merged; the first one stays."""
    aliases = Aliases(graph)
    seen: dict[Hashable, str] = {}
    for tensor in graph.tensors.values():
        if tensor.is_constant and tensor.name not in graph.outputs:
            first = seen.setdefault(_content(tensor), tensor.name)
            if first != tensor.name:
                aliases.add(first, tensor.name)
    first_ops: dict[Hashable, Op] = {}
    kept: list[Op] = []
    for op in graph.ops:
        first_op = first_ops.setdefault(_meaning(graph, op, aliases), op)
        if first_op is op or not _merge(aliases, graph, first_op, op):
            kept.append(op)
    return aliases.apply(kept)


def _content(tensor: Tensor) -> Hashable:
    assert tensor.data is not None
    digest = hashlib.sha256(tensor.data.tobytes()).digest()
    return tensor.shape, tensor.dtype, tensor.quant, digest


def _meaning(graph: Graph, op: Op, aliases: Aliases) -> Hashable:
    """Equal for two operators that compute the same."""
    inputs = tuple(aliases.source(name) if name else "" for name in op.inputs)
    outputs = tuple(
        (t.shape, t.dtype, t.quant, t.is_state) for t in (graph.tensors[n] for n in op.outputs)
    )
    return op.kind, inputs, op.params, outputs


def _merge(aliases: Aliases, graph: Graph, first: Op, second: Op) -> bool:
    names = (*second.outputs, *first.outputs)
    if any(name in graph.outputs or graph.tensors[name].is_state for name in names):
        return False
    pairs = zip(first.outputs, second.outputs, strict=True)
    return all(aliases.add(kept, gone) for kept, gone in pairs)
