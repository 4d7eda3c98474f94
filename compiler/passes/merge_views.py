"""A view of a view is one view, and a transpose that moves nothing is a view."""

from __future__ import annotations

from dataclasses import replace

from compiler.graph import Graph, Op, OpView
from compiler.operators.movement import ReshapeParams
from compiler.registry import op_class


def merge_views(graph: Graph) -> Graph:
    """Reshapes read what the first of a chain of reshapes reads."""
    sources: dict[str, str] = {}
    ops: list[Op] = []
    for op in graph.ops:
        op = _as_view(graph.view(op))
        if op_class.get(op.kind) == "view":
            source = sources.get(op.inputs[0], op.inputs[0])
            sources[op.outputs[0]] = source
            op = replace(op, inputs=(source, *op.inputs[1:]))
        ops.append(op)
    return graph.with_ops(ops)


def _as_view(view: OpView) -> Op:
    """A transpose that keeps the order of the axes longer than 1 only changes the shape."""
    if view.op.kind != "transpose":
        return view.op
    moved = [axis for axis in view.params.permutation if view.input(0).shape[axis] != 1]
    if moved != sorted(moved):
        return view.op
    return replace(view.op, kind="reshape", params=ReshapeParams(view.output().shape))
