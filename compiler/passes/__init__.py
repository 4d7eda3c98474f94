"""Passes are plain ``Graph -> Graph`` functions, in lists that a plugin may extend."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.graph import Graph
from compiler.registry import Pass

#: What every graph goes through after it is read; results stay the same, to the bit.
CANONICAL: list[Pass] = []

#: What a quantized graph goes through before it is scheduled.
FUSION: list[Pass] = []


def run_passes(graph: Graph, passes: Iterable[Pass]) -> Graph:
    """The graph after every pass, in order."""
    for each in passes:
        graph = each(graph)
    return graph
