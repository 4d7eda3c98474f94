"""Helpers that passes share: names that become one, and tensors nobody else reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from compiler.graph import Graph, Op, Tensor


def is_pinned(graph: Graph, name: str) -> bool:
    """Whether a tensor must keep its name: inputs, outputs and states."""
    return name in graph.inputs or name in graph.outputs or graph.tensors[name].is_state


def renamed(op: Op, names: Mapping[str, str]) -> Op:
    """The operator with its inputs and outputs called as ``names`` says."""
    inputs = tuple(names.get(name, name) for name in op.inputs)
    outputs = tuple(names.get(name, name) for name in op.outputs)
    if inputs == op.inputs and outputs == op.outputs:
        return op
    return replace(op, inputs=inputs, outputs=outputs)


class Aliases:
    """Pairs of tensors found equal: the second goes, the first takes its place.

    Where only the second is pinned, the first takes over its name.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._source: dict[str, str] = {}  # tensor that went -> tensor in its place
        self._name: dict[str, str] = {}  # tensor that stays -> the pinned name it takes over

    def add(self, kept: str, gone: str) -> bool:
        """Let ``kept`` stand for ``gone``; False where both names must stay, or where ``kept`` is
        a state, which may change before ``gone`` is read."""
        kept = self.source(kept)
        if self._graph.tensors[kept].is_state:
            return False
        if is_pinned(self._graph, gone):
            if is_pinned(self._graph, kept) or kept in self._name:
                return False
            self._name[kept] = gone
        self._source[gone] = kept
        return True

    def source(self, name: str) -> str:
        """The tensor that stands in for ``name``."""
        while name in self._source:
            name = self._source[name]
        return name

    def apply(self, ops: Iterable[Op], new_tensors: Iterable[Tensor] = ()) -> Graph:
        """The graph of ``ops`` (those that made the tensors that went are not among them)."""
        final = {
            name: self._name.get(self.source(name), self.source(name))
            for name in (*self._graph.tensors, *self._name)
        }
        tensors = {
            self._name.get(name, name): replace(tensor, name=self._name.get(name, name))
            for name, tensor in self._graph.tensors.items()
            if name not in self._source
        }
        graph = self._graph.replace(tensors=tensors)
        return graph.with_ops([renamed(op, final) for op in ops], new_tensors)


class Uses:
    """Who reads what, in one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.producers = graph.producers()
        self.consumers = graph.consumers()

    def only_reader(self, name: str) -> Op | None:
        """The one operator that reads ``name``, if nothing else needs the tensor."""
        readers = self.consumers[name]
        if len(readers) != 1 or is_pinned(self._graph, name):
            return None
        return readers[0]


def fresh_name(graph: Graph, stem: str) -> str:
    """``stem``, or ``stem_1``, ``stem_2``, ... where the graph has such a tensor."""
    name, count = stem, 0
    while name in graph.tensors:
        count += 1
        name = f"{stem}_{count}"
    return name
