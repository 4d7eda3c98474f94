"""An output that is constant is copied from a constant, so that it lies in the arena."""

from __future__ import annotations

from dataclasses import replace

from compiler.graph import Graph, Op
from compiler.operators.movement import ReshapeParams


def copy_constant_outputs(graph: Graph) -> Graph:
    """The graph with a copy for each output that nothing computes any more."""
    ops, tensors = list(graph.ops), dict(graph.tensors)
    for name in graph.outputs:
        tensor = tensors[name]
        if tensor.is_constant:
            source = name + "/constant"
            while source in tensors:
                source += "_"
            tensors[source] = replace(tensor, name=source)
            tensors[name] = replace(tensor, data=None)
            ops.append(Op("reshape", name, (source,), (name,), ReshapeParams(tensor.shape)))
    return graph.replace(ops=tuple(ops), tensors=tensors) if len(ops) > len(graph.ops) else graph
