"""Each state is written as soon as nothing needs its old value any more.

Front ends write states at the end of the graph. Earlier, the memory of the new value is free
sooner.
"""

from __future__ import annotations

from compiler.graph import Graph, Op

ASSIGN = "assign_state"


def settle_states(graph: Graph) -> Graph:
    """The same graph with every assignment right after the last operator it must follow."""
    assignments = [op for op in graph.ops if op.kind == ASSIGN]
    if not assignments:
        return graph
    ops = [op for op in graph.ops if op.kind != ASSIGN]
    last_touch = {name: i for i, op in enumerate(ops) for name in (*op.inputs, *op.outputs)}
    after: dict[int, list[Op]] = {}
    for op in assignments:
        place = max(last_touch.get(op.outputs[0], -1), _made_at(ops, op.inputs[0]))
        after.setdefault(place, []).append(op)
    settled = list(after.get(-1, ()))
    for index, op in enumerate(ops):
        settled += [op, *after.get(index, ())]
    return graph.with_ops(settled)


def _made_at(ops: list[Op], name: str) -> int:
    return next((i for i, op in enumerate(ops) if name in op.outputs), -1)
