"""Operators whose inputs are all constants become constants."""

from __future__ import annotations

from compiler.folding import fold
from compiler.graph import Graph, Op


def fold_constants(graph: Graph) -> Graph:
    """The graph without operators that can be computed now, as long as it hardly grows."""
    tensors = dict(graph.tensors)
    current = graph.replace(tensors=tensors)
    kept: list[Op] = []
    for op in graph.ops:
        folded = fold(current.view(op))
        if folded is None:
            kept.append(op)
        else:
            tensors.update({tensor.name: tensor for tensor in folded})
    return current.with_ops(kept) if len(kept) < len(graph.ops) else graph
