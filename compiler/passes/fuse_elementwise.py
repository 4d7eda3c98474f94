"""Float operators that work element by element become one, which passes over memory once.

A region is a set of such operators, all with results of one shape, of which only the last is read
outside. It grows backwards from its last operator, as long as no more memory is needed for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compiler.graph import Graph, Op, OpView, Tensor
from compiler.operators.fused import (
    MAX_INPUTS,
    MAX_NUMBERS,
    MAX_STAGES,
    ChainParams,
    Stage,
    chainable,
)
from compiler.passes.rewrite import is_pinned
from compiler.registry import op_class

#: Positions in ``graph.ops``.
Region = frozenset[int]


def fuse_elementwise(graph: Graph) -> Graph:
    """The graph with each region of two operators or more as one ``elementwise_chain``."""
    regions = _Regions(graph).find()
    inner = {p for region in regions.values() for p in region} - regions.keys()
    ops = []
    for position, op in enumerate(graph.ops):
        region = sorted(regions.get(position, ()))
        if position not in inner:
            ops.append(chain_of([graph.ops[p] for p in region]) if len(region) > 1 else op)
    return graph.with_ops(ops)


def is_stage(view: OpView) -> bool:
    """Whether the operator may be one of a chain."""
    if op_class.get(view.op.kind) not in ("elementwise", "broadcast"):
        return False
    tensors = (*view.inputs, *view.outputs)
    is_plain = all(t is not None and t.dtype == "float32" and not t.is_state for t in tensors)
    return is_plain and view.op.kind in chainable and len(view.outputs) == 1


@dataclass(frozen=True)
class _Needs:
    """What a region reads."""

    numbers: frozenset[str]  # constants of one element
    inputs: frozenset[str]  # all others
    whole: frozenset[str]  # those in the arena that are as large as the output


class _Regions:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.made = {name: p for p, op in enumerate(graph.ops) for name in op.outputs}
        self.readers: dict[str, set[int]] = {}
        for position, op in enumerate(graph.ops):
            for name in op.inputs:
                self.readers.setdefault(name, set()).add(position)

    def find(self) -> Mapping[int, Region]:
        """Disjoint regions, by the position of their last operator."""
        regions: dict[int, Region] = {}
        for position, op in enumerate(self.graph.ops):
            if is_stage(self.graph.view(op)):
                region = frozenset((position,))
                while (before := self._absorbable(region, position, regions)) is not None:
                    region |= regions.pop(before)
                regions[position] = region
        return regions

    def _absorbable(self, region: Region, last: int, regions: Mapping[int, Region]) -> int | None:
        """The last position of another region that can become part of this one."""
        shape = self._output(last).shape
        for name in self._outer(region):
            before = self.made.get(name)
            if before is None or before not in regions or self._output(before).shape != shape:
                continue
            if not self.readers[name] <= region or is_pinned(self.graph, name):
                continue
            other = regions[before]
            if self._can_join(region, other) and self._keeps_memory(region, other):
                return before
        return None

    def _can_join(self, region: Region, other: Region) -> bool:
        """Whether the kernel can do both at once."""
        needs = self._needs(region | other)
        return (
            len(region) + len(other) <= MAX_STAGES
            and len(needs.inputs) <= MAX_INPUTS
            and len(needs.numbers) <= MAX_NUMBERS
        )

    def _keeps_memory(self, region: Region, other: Region) -> bool:
        """Whether no more is live, in any order of execution, when ``other`` joins ``region``.

        What it reads then lives as long as its result did. So it may read one tensor of that
        size; or several, if it is done right before and the rest needs nothing else of the size:
        the result of all then stands where its own stood.
        """
        before, last = max(other), max(region)
        both, alone = self._needs(region | other), self._needs(region)
        if len(both.whole) <= len(alone.whole):
            return True
        follows = not {*range(before + 1, last)} - region
        return follows and alone.whole == {self._output(before).name}

    def _needs(self, region: Region) -> _Needs:
        tensors = [self.graph.tensors[name] for name in self._outer(region)]
        size = self._output(max(region)).elements
        numbers = {t.name for t in tensors if t.is_constant and t.elements == 1}
        whole = {t.name for t in tensors if not t.is_constant and t.elements == size}
        inputs = {t.name for t in tensors} - numbers
        return _Needs(frozenset(numbers), frozenset(inputs), frozenset(whole))

    def _outer(self, region: Region) -> Iterator[str]:
        """The tensors that it reads and does not make, in a fixed order."""
        for position in sorted(region):
            for name in self.graph.ops[position].inputs:
                if self.made.get(name) not in region:
                    yield name

    def _output(self, position: int) -> Tensor:
        return self.graph.tensors[self.graph.ops[position].outputs[0]]


def chain_of(ops: Sequence[Op]) -> Op:
    """One operator that does what ``ops`` do, each of which but the last only they read."""
    made = [op.outputs[0] for op in ops]
    inputs = list(dict.fromkeys(n for op in ops for n in op.inputs if n not in made))
    index = {name: i for i, name in enumerate([*inputs, *made])}
    stages = tuple(Stage(op.kind, op.params, tuple(index[n] for n in op.inputs)) for op in ops)
    last = ops[-1]
    return Op("elementwise_chain", last.name, tuple(inputs), last.outputs, ChainParams(stages))
