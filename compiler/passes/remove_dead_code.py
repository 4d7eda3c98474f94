"""Operators whose results nobody needs go."""

from __future__ import annotations

from compiler.graph import Graph, Op


def remove_dead_code(graph: Graph) -> Graph:
    """Keep what outputs and states depend on. An input that nobody reads stays an input."""
    needed = {*graph.outputs}
    kept: list[Op] = []
    for op in reversed(graph.ops):
        writes_state = any(graph.tensors[name].is_state for name in op.outputs)
        if writes_state or needed.intersection(op.outputs):
            kept.append(op)
            needed.update(op.inputs)
    return graph.with_ops(reversed(kept))
