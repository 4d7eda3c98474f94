"""Places every tensor that is not a constant in a buffer; drops the steps this makes needless.

It goes in three moves, each of which only joins tensors into groups (``sharing.py``):

1. *Embeddings.* An operator that only re-arranges whole runs of bytes (a view, a concat along
   the outermost axis that varies, a split or slice of such) says so by ``registry.embeddings``.
   Its tensors are laid inside each other: producers write straight into the concat's buffer,
   readers read straight from the split's. Such an operator needs no step. It keeps its step where
   an input would have to lie in two places, is a constant, or is a model input or state that
   would not start its buffer any more, and where a state changes during the run.

2. *In place.* A result overwrites an input that dies in this step, where the kernel allows it and
   nothing else that is still needed lies there.

3. *Second thoughts.* A concat's buffer lives from its first producer on, a split's until its last
   reader. Where that makes the peak higher than a copy would, the step is kept after all.

Time is counted in operators of the graph until the steps that remain are numbered. A value that a
step writes (a *leaf*) lives from that step to the last step that reads any tensor laid over it.
Model inputs live from before the first step, and their memory is free after their last read;
outputs until after the last step; state always.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from compiler.errors import UnsupportedError
from compiler.graph import Graph, Op
from compiler.kernels import Scratch
from compiler.registry import embeddings
from compiler.schedule import LiveBuffer, Place, Step, scratch_name
from compiler.sharing import Sharing, Spot


class Storage(NamedTuple):
    """``steps`` are those that remain, numbered anew."""

    places: dict[str, Place]
    buffers: tuple[LiveBuffer, ...]
    steps: tuple[Step, ...]


class _Span(NamedTuple):
    """Positions in ``graph.ops``: -1 is before the first, ``len(graph.ops)`` after the last."""

    first: int
    last: int


def place_tensors(graph: Graph, steps: Sequence[Step], alignment: int) -> Storage:
    """Places, buffers with lifetimes, and the steps that are still needed.

    ``steps`` are in the order of ``graph.ops``, one for each; an operator that can do without
    may be left out. Raises UnsupportedError where one was left out that cannot.
    """
    optional = [step.view.op.outputs[0] for step in steps if step.view.op.kind in embeddings]
    draft = _Draft(graph, steps, alignment, frozenset())
    improved = True
    while improved:
        improved = False
        for output in optional:
            if output not in draft.embedded:
                continue
            other = _Draft(graph, steps, alignment, draft.kept | {output})
            if other.peak_bytes < draft.peak_bytes:
                draft, improved = other, True
    return draft.storage()


def peak_bytes(graph: Graph, steps: Sequence[Step], alignment: int) -> int:
    """The most bytes that are live at one step, with every embedding that is possible."""
    return _Draft(graph, steps, alignment, frozenset()).peak_bytes


def needs_step(graph: Graph, op: Op) -> bool:
    """Whether ``op`` can only be done by a kernel, however its tensors are placed."""
    entry = embeddings.get(op.kind)
    return not entry or not entry(graph.view(op))


class _Draft:
    """One storage: operators whose first output is in ``kept`` are not embedded."""

    def __init__(
        self, graph: Graph, steps: Sequence[Step], alignment: int, kept: frozenset[str]
    ) -> None:
        self.graph = graph
        self.alignment = alignment
        self.kept = kept
        self.sharing = Sharing.of(graph)
        self.embedded: set[str] = set()  # first outputs of the operators without a step
        self.leaves: set[str] = {n for n in graph.inputs if n in self.sharing.tensors}
        self.leaves.update(name for name, t in graph.tensors.items() if t.is_state)
        self._embed()
        self.step_of = {id(s.view.op): s for s in steps}
        self._check_steps()
        self.spans = _spans(graph, self.sharing, self.leaves, self.embedded)
        self._overwrite()
        self.peak_bytes = max(self._profile(-1, len(graph.ops)))

    # -- embeddings

    def _embed(self) -> None:
        written = {n for op in self.graph.ops for n in op.outputs}
        changing = {n for n in written if self.graph.tensors[n].is_state}
        for op in self.graph.ops:
            if op.outputs[0] not in self.kept and not changing & {*op.inputs, *op.outputs}:
                attempt = self._embedded(op)
                if attempt is not None:
                    self.sharing = attempt
                    self.embedded.add(op.outputs[0])
                    continue
            self.leaves.update(op.outputs)

    def _embedded(self, op: Op) -> Sharing | None:
        """The sharing with the operator's tensors inside each other, or None."""
        if needs_step(self.graph, op):
            return None
        sharing = self.sharing.copy()
        for part, whole, offset in (
            (e.part, e.whole, e.offset) for e in embeddings[op.kind](self.graph.view(op))
        ):
            if part not in sharing.tensors or whole not in sharing.tensors:
                return None
            if not sharing.join(part, whole, offset, self._both_leaves):
                return None
        group = sharing.group_of[op.outputs[0]]
        return sharing if self._keeps_starts(sharing, group) else None

    def _both_leaves(self, a: Spot, b: Spot) -> bool:
        return a.tensor.name in self.leaves and b.tensor.name in self.leaves

    def _keeps_starts(self, sharing: Sharing, group: str) -> bool:
        """Model inputs begin a buffer, so that they are aligned; a state is one alone."""
        low, high = sharing.extent(group)
        return all(
            spot.start == low and (not spot.tensor.is_state or spot.end == high)
            for spot in sharing.spots(group)
            if spot.tensor.is_state or spot.tensor.name in self.graph.inputs
        )

    def _check_steps(self) -> None:
        for op in self.graph.ops:
            if id(op) not in self.step_of and op.outputs[0] not in self.embedded:
                raise UnsupportedError(
                    f"operator '{op.kind}' ({op.name}): its tensors cannot share memory here, and "
                    f"no kernel copies them; register a kernel for '{op.kind}'"
                )

    # -- in place

    def _overwrite(self) -> None:
        for time, op in enumerate(self.graph.ops):
            if op.outputs[0] in self.embedded:
                continue
            step = self.step_of[id(op)]
            for output, inputs in sorted(step.kernel.in_place(step.view).items()):
                for index in (inputs,) if isinstance(inputs, int) else inputs:
                    if self._overwrites(time, op, op.outputs[output], op.inputs[index]):
                        break

    def _overwrites(self, time: int, op: Op, output: str, source: str) -> bool:
        """Let ``output`` start where ``source`` does, if that is legal and saves memory."""
        tensors, sharing = self.sharing.tensors, self.sharing
        if source not in tensors or tensors[output].bytes > tensors[source].bytes:
            return False
        operands = [n for n in op.inputs if n in tensors]

        def clash(moved: Spot, kept: Spot) -> bool:
            return self._clash(time, moved, kept, output, source, operands)

        before, after = sharing.group_of[source], sharing.group_of[output]
        grown = sharing.copy()
        if before == after or not grown.join(output, source, 0, clash):
            return False
        if not self._keeps_starts(grown, before):
            return False
        if not sharing.bytes(before) == sharing.bytes(after) == grown.bytes(before):
            first = min(self._life(sharing, before).first, self._life(sharing, after).first)
            last = max(self._life(sharing, before).last, self._life(sharing, after).last)
            lower = max(self._profile(first, last, grown)) < max(self._profile(first, last))
            if not lower:
                return False
        self.sharing = grown
        return True

    def _clash(
        self, time: int, moved: Spot, kept: Spot, output: str, source: str, operands: list[str]
    ) -> bool:
        """Whether both hold values at one time; the output may follow the source at ``time``."""
        a, b = moved.tensor.name, kept.tensor.name
        if a not in self.leaves or b not in self.leaves:
            return False
        new, old = self.spans[a], self.spans[b]
        if new.first > old.last or old.first > new.last:
            return False
        if a != output or new.first != time or old.first == time or old.last != time:
            return True
        readers = [n for n in operands if self.sharing.group_of[n] == self.sharing.group_of[source]]
        return not all(
            self.sharing.spot(n).start == self.sharing.spot(source).start
            and self.sharing.tensors[n].shape == self.sharing.tensors[source].shape
            for n in readers
            if self.sharing.spot(n).overlaps(kept)
        )

    # -- lifetimes

    def _life(self, sharing: Sharing, group: str) -> _Span:
        spans = [self.spans[n] for n in sharing.members[group] if n in self.leaves]
        return _Span(min(s.first for s in spans), max(s.last for s in spans))

    def _profile(self, first: int, last: int, sharing: Sharing | None = None) -> list[int]:
        """Live bytes, scratch included, at each time from ``first`` to ``last``."""
        sharing = sharing or self.sharing
        live = [0] * (last - first + 1)
        for group in sharing.members:
            life = self._life(sharing, group)
            size = _round_up(sharing.bytes(group), self.alignment)
            for time in range(max(first, life.first), min(last, life.last) + 1):
                live[time - first] += size
        for time, op in enumerate(self.graph.ops):
            if first <= time <= last and op.outputs[0] not in self.embedded:
                for _, scratch in _scratch(self.step_of[id(op)]):
                    live[time - first] += _round_up(scratch.bytes, self.alignment)
        return live

    # -- result

    def storage(self) -> Storage:
        ops = [op for op in self.graph.ops if op.outputs[0] not in self.embedded]
        steps = tuple(replace(self.step_of[id(op)], index=index) for index, op in enumerate(ops))
        number = {id(op): index for index, op in enumerate(ops)}
        index_of = {t: number[id(op)] for t, op in enumerate(self.graph.ops) if id(op) in number}
        index_of |= {-1: -1, len(self.graph.ops): len(ops)}
        places: dict[str, Place] = {}
        buffers = []
        for group in self.sharing.members:
            low, _ = self.sharing.extent(group)
            life = self._life(self.sharing, group)
            name = self._first_leaf(group)
            for spot in self.sharing.spots(group):
                places[spot.tensor.name] = Place(name, spot.start - low)
            fixed = any(spot.tensor.is_state for spot in self.sharing.spots(group))
            size = self.sharing.bytes(group)
            buffers.append(LiveBuffer(name, size, index_of[life.first], index_of[life.last], fixed))
        for step in steps:
            for operand, scratch in _scratch(step):
                name = scratch_name(step.index, operand)
                buffers.append(LiveBuffer(name, scratch.bytes, step.index, step.index))
        return Storage(places, tuple(buffers), steps)

    def _first_leaf(self, group: str) -> str:
        leaves = [n for n in self.sharing.members[group] if n in self.leaves]
        return min(leaves, key=lambda n: (self.spans[n].first, self.sharing.starts[n], n))


def _spans(
    graph: Graph, sharing: Sharing, leaves: Collection[str], embedded: Collection[str]
) -> Mapping[str, _Span]:
    """From when to when each leaf holds a value that something reads."""
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
    return {name: _Span(first[name], last[name]) for name in leaves}


def _leaves_under(sharing: Sharing, leaves: Collection[str], name: str) -> list[str]:
    spot = sharing.spot(name)
    return [
        other.tensor.name
        for other in sharing.spots(sharing.group_of[name])
        if other.tensor.name in leaves and other.overlaps(spot)
    ]


def _scratch(step: Step) -> list[tuple[int, Scratch]]:
    return [(i, b) for i, b in enumerate(step.call.buffers) if isinstance(b, Scratch)]


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
