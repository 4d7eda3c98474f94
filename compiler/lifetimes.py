"""From when to when values live, in positions of operators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from compiler.graph import Graph
from compiler.kernels import Scratch
from compiler.schedule import Step
from compiler.sharing import Sharing


class Span(NamedTuple):
    """Positions in ``graph.ops``; -1 is before the first, ``len(graph.ops)`` after the last."""

    first: int
    last: int


def leaf_spans(
    graph: Graph, sharing: Sharing, leaves: Collection[str], embedded: Collection[str]
) -> Mapping[str, Span]:
    """From when to when each leaf (a value that a step writes) is read or to be read.

    ``embedded`` has the first outputs of the operators that need no step.
    """
    first, last = dict.fromkeys(leaves, -1), dict.fromkeys(leaves, -1)

    def read(name: str, time: int) -> None:
        for leaf in _leaves_under(sharing, leaves, name):
            last[leaf] = max(last[leaf], time)

    for time, op in enumerate(graph.ops):
        if op.outputs[0] in embedded:
            continue
        for name in op.inputs:
            if name in sharing.tensors:
                read(name, time)
        for name in op.outputs:
            if not graph.tensors[name].is_state:
                first[name] = time
            last[name] = max(last[name], time)
    for name, tensor in sharing.tensors.items():
        if name in graph.outputs or tensor.is_state:
            read(name, len(graph.ops))
    return {name: Span(first[name], last[name]) for name in leaves}


def _leaves_under(sharing: Sharing, leaves: Collection[str], name: str) -> list[str]:
    spot = sharing.spot(name)
    return [
        other.tensor.name
        for other in sharing.spots(sharing.group_of[name])
        if other.tensor.name in leaves and other.overlaps(spot)
    ]


def scratch_operands(step: Step) -> list[tuple[int, Scratch]]:
    """The scratch of a step, with its position among the operands."""
    return [(i, b) for i, b in enumerate(step.call.buffers) if isinstance(b, Scratch)]
