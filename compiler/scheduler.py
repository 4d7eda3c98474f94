"""From a graph to its schedule: a kernel for each operator, a place for each tensor."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.errors import UnsupportedError
from compiler.graph import Graph, Op
from compiler.order import order_graph
from compiler.passes.constant_outputs import copy_constant_outputs
from compiler.passes.widen import widen
from compiler.schedule import Schedule, Step, choose_kernel
from compiler.storage import needs_step, place_tensors
from compiler.target import Target


def make_schedule(graph: Graph, chain: Sequence[Target]) -> Schedule:
    """Order, kernels and places. Raises UnsupportedError listing every operator without one."""
    names = tuple(target.name for target in chain)
    graph = order_graph(copy_constant_outputs(widen(graph, names)))
    alignment = chain[0].alignment
    steps, refusals = [], []
    for index, op in enumerate(graph.ops):
        try:
            steps.append(_step(graph, index, op, names))
        except UnsupportedError as error:
            if needs_step(graph, op):
                refusals.append(str(error))
    if refusals:
        raise UnsupportedError("; ".join(refusals))
    places, buffers, kept = place_tensors(graph, steps, alignment)
    return Schedule(graph, names, kept, places, alignment, buffers)


def _step(graph: Graph, index: int, op: Op, chain: tuple[str, ...]) -> Step:
    view = graph.view(op)
    kernel = choose_kernel(view, chain)
    return Step(index, view, kernel, kernel.call(view))
