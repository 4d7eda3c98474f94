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

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from compiler.errors import UnsupportedError
from compiler.graph import Graph, Op
from compiler.lifetimes import Span, leaf_spans, scratch_operands
from compiler.planner.problem import round_up
from compiler.registry import embeddings
from compiler.schedule import LiveBuffer, Place, Step, scratch_name
from compiler.sharing import Sharing, Spot

#: How many embeddings are taken back for a try; a limit for the time only.
MAX_SECOND_THOUGHTS = 60


class Storage(NamedTuple):
    """``steps`` are those that remain, numbered anew."""

    places: dict[str, Place]
    buffers: tuple[LiveBuffer, ...]
    steps: tuple[Step, ...]


def place_tensors(graph: Graph, steps: Sequence[Step], alignment: int) -> Storage:
    """Places, buffers with lifetimes, and the steps that are still needed.

    ``steps`` are in the order of ``graph.ops``, one for each; an operator that can do without
    may be left out. Raises UnsupportedError where one was left out that cannot.
    """
    has_kernel = {step.view.op.outputs[0] for step in steps}
    draft = _Draft(graph, steps, alignment, frozenset())
    waiting = draft.doubtful(has_kernel)
    for _ in range(MAX_SECOND_THOUGHTS):
        if not waiting:
            break
        output = waiting.pop(0)
        other = _Draft(graph, steps, alignment, draft.kept | {output})
        if other.peak_bytes < draft.peak_bytes:
            draft, tried = other, waiting
            waiting = [output for output in draft.doubtful(has_kernel) if output in tried]
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
        self.spans = leaf_spans(graph, self.sharing, self.leaves, self.embedded)
        self.live = self._live_bytes()  # at time -1, 0, ...
        self._overwrite()
        self.peak_bytes = max(self.live)

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
        low, high = sharing.extents[group]
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
        live = self._live_after(before, after, grown.bytes(before))
        same_size = sharing.bytes(before) == sharing.bytes(after) == grown.bytes(before)
        first, last = self._life_of_both(before, after)
        changed = slice(first + 1, last + 2)
        if not same_size and max(live[changed]) >= max(self.live[changed]):
            return False
        self.sharing, self.live = grown, live
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

    def _life(self, sharing: Sharing, group: str) -> Span:
        spans = [self.spans[n] for n in sharing.members[group] if n in self.leaves]
        return Span(min(s.first for s in spans), max(s.last for s in spans))

    def _life_of_both(self, one: str, other: str) -> Span:
        a, b = self._life(self.sharing, one), self._life(self.sharing, other)
        return Span(min(a.first, b.first), max(a.last, b.last))

    def _live_bytes(self) -> list[int]:
        """Bytes of buffers and scratch that are live before the first operator, at each, ..."""
        live = [0] * (len(self.graph.ops) + 2)
        for group in self.sharing.members:
            self._add(live, self._life(self.sharing, group), self.sharing.bytes(group), 1)
        for time, op in enumerate(self.graph.ops):
            if op.outputs[0] not in self.embedded:
                for _, scratch in scratch_operands(self.step_of[id(op)]):
                    self._add(live, Span(time, time), scratch.bytes, 1)
        return live

    def _live_after(self, one: str, other: str, size: int) -> list[int]:
        """The same once two groups have become one of ``size`` bytes."""
        live = list(self.live)
        for group in (one, other):
            self._add(live, self._life(self.sharing, group), self.sharing.bytes(group), -1)
        self._add(live, self._life_of_both(one, other), size, 1)
        return live

    def _add(self, live: list[int], life: Span, size: int, sign: int) -> None:
        rounded = sign * round_up(size, self.alignment)
        for index in range(life.first + 1, life.last + 2):
            live[index] += rounded

    def doubtful(self, has_kernel: Collection[str]) -> list[str]:
        """Operators whose embedding makes a buffer that is larger than their own tensors need.

        Only of buffers that are live at the peak, and only where a kernel can do without.
        """
        peak = self.live.index(self.peak_bytes) - 1
        found = []
        for op in self.graph.ops:
            output = op.outputs[0]
            if output not in self.embedded or output not in has_kernel:
                continue
            group = self.sharing.group_of[output]
            sizes = {
                self.sharing.tensors[n].bytes
                for n in (*op.inputs, *op.outputs)
                if n in self.sharing.tensors
            }
            life = self._life(self.sharing, group)
            if len(sizes) > 1 and life.first <= peak <= life.last:
                found.append(output)
        return found

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
            low, _ = self.sharing.extents[group]
            life = self._life(self.sharing, group)
            name = self._first_leaf(group)
            for spot in self.sharing.spots(group):
                places[spot.tensor.name] = Place(name, spot.start - low)
            fixed = any(spot.tensor.is_state for spot in self.sharing.spots(group))
            size = self.sharing.bytes(group)
            buffers.append(LiveBuffer(name, size, index_of[life.first], index_of[life.last], fixed))
        for step in steps:
            for operand, scratch in scratch_operands(step):
                name = scratch_name(step.index, operand)
                buffers.append(LiveBuffer(name, scratch.bytes, step.index, step.index))
        return Storage(places, tuple(buffers), steps)

    def _first_leaf(self, group: str) -> str:
        leaves = [n for n in self.sharing.members[group] if n in self.leaves]
        return min(leaves, key=lambda n: (self.spans[n].first, self.sharing.starts[n], n))
