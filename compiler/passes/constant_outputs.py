"""A model's output that is a constant is copied in each run: outputs are read from the arena."""

from __future__ import annotations

from dataclasses import replace

from compiler.graph import Graph, Op, Tensor
from compiler.operators.movement import ReshapeParams
from compiler.passes.rewrite import fresh_name, renamed


def copy_constant_outputs(graph: Graph) -> Graph:
    """The graph with such an output made by an operator, under its own name."""
    copies: list[Op] = []
    values: dict[str, Tensor] = {}  # by the output's name
    for name in dict.fromkeys(graph.outputs):
        tensor = graph.tensors[name]
        if tensor.is_constant:
            value = fresh_name(graph, f"{name}/value")
            values[name] = replace(tensor, name=value)
            copies.append(Op("reshape", name, (value,), (name,), ReshapeParams(tensor.shape)))
    if not copies:
        return graph
    names = {name: tensor.name for name, tensor in values.items()}
    ops = [renamed(op, names) for op in graph.ops]
    outputs = {name: replace(graph.tensors[name], data=None) for name in values}
    graph = graph.replace(tensors={**graph.tensors, **outputs})
    return graph.with_ops([*ops, *copies], values.values())
