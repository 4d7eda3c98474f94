"""The order of execution: the file's, or one found by search that needs less memory.

The search walks over sets of done operators (a beam, exact while all of a level's sets fit in
it): two ways to the same set differ only in their peak, so the lower one stays. It sees buffers
(tensors laid inside each other are one), and takes for granted that elementwise operators work in
place. What it finds is taken only if ``storage.py`` agrees that the peak is lower.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.graph import Graph, Op, OpView
from compiler.kernels import Call, Kernel
from compiler.registry import embeddings, op_class
from compiler.schedule import Step
from compiler.sharing import Sharing
from compiler.storage import needs_step, peak_bytes

BEAM_WIDTH = 48
#: Sets looked at in all: bounds the time, to about a fifth of a second.
MAX_EXPANSIONS = 20_000
IN_PLACE_CLASSES = ("elementwise", "broadcast")


class _AnyKernel(Kernel):
    """Stands for the kernel that is not chosen yet."""

    def in_place(self, view: OpView) -> Mapping[int, int | tuple[int, ...]]:
        if op_class.get(view.op.kind) not in IN_PLACE_CLASSES:
            return {}
        fitting = (i for i, t in enumerate(view.inputs) if t and t.bytes == view.output().bytes)
        return {0: tuple(fitting)}


def order_graph(graph: Graph) -> Graph:
    """The same operators in an order whose peak of live bytes is not higher."""
    if len(graph.ops) < 2:
        return graph
    model = _Model(graph)
    limit = model.peak(range(len(graph.ops)))
    if limit <= model.least_peak():
        return graph
    order = _search(model, limit)
    if order is None:
        return graph
    other = graph.replace(ops=tuple(graph.ops[index] for index in order))
    return other if _placed_peak(other) < _placed_peak(graph) else graph


def _placed_peak(graph: Graph) -> int:
    kernel, call = _AnyKernel(), Call("", {}, ())
    steps = [Step(i, graph.view(op), kernel, call) for i, op in enumerate(graph.ops)]
    return peak_bytes(graph, steps, 1)


@dataclass(frozen=True)
class _State:
    """After the operators in the bit set ``done``; ``order`` is a chain of (operator, before)."""

    done: int
    live: int
    peak: int
    order: tuple[int, object] | None

    def rank(self) -> tuple[int, int, int]:
        return self.peak, self.live, self.done


class _Model:
    """Operators and buffers as bit sets over the operators."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sharing = _embedded(graph)
        self.needs = _dependencies(graph)
        self.reads, self.writes = self._buffers_of_ops()
        self.bytes = {g: self.sharing.bytes(g) for g in self.sharing.members}
        self.users = dict.fromkeys(self.bytes, 0)  # buffer -> operators that touch it
        for index in range(len(graph.ops)):
            for group in self.reads[index] | self.writes[index]:
                self.users[group] |= 1 << index
        forever = [n for n in graph.outputs if n in self.sharing.group_of]
        early = [n for n in graph.inputs if n in self.sharing.group_of]
        states = [n for n, t in self.sharing.tensors.items() if t.is_state]
        self.forever = {self.sharing.group_of[n] for n in (*forever, *states)}
        self.early = {self.sharing.group_of[n] for n in (*early, *states)}

    def _buffers_of_ops(self) -> tuple[list[set[str]], list[set[str]]]:
        group_of = self.sharing.group_of
        reads = [{group_of[n] for n in op.inputs if n in group_of} for op in self.graph.ops]
        writes = [{group_of[n] for n in op.outputs} for op in self.graph.ops]
        return reads, writes

    def start(self) -> _State:
        live = sum(self.bytes[g] for g in self.early)
        return _State(0, live, live, None)

    def after(self, state: _State, index: int) -> _State:
        """The state once operator ``index``, whose needs are done, is done as well."""
        done = state.done | 1 << index
        touched = self.reads[index] | self.writes[index]
        born = {g for g in touched if not state.done & self.users[g] and g not in self.early}
        dead = {g for g in touched if not self.users[g] & ~done and g not in self.forever}
        grown = state.live + sum(self.bytes[g] for g in born)
        during = grown - self._saved(index, born, dead)
        live = grown - sum(self.bytes[g] for g in dead)
        return _State(done, live, max(state.peak, during, live), (index, state.order))

    def _saved(self, index: int, born: set[str], dead: set[str]) -> int:
        """Bytes of the result, where it overwrites an input that dies."""
        if op_class.get(self.graph.ops[index].kind) not in IN_PLACE_CLASSES:
            return 0
        sizes = {self.bytes[g] for g in dead & self.reads[index]}
        return max((self.bytes[g] for g in born if self.bytes[g] in sizes), default=0)

    def peak(self, order: range) -> int:
        state = self.start()
        for index in order:
            state = self.after(state, index)
        return state.peak

    def least_peak(self) -> int:
        """What no order goes below: what one operator alone needs, and the two ends."""
        last = sum(self.bytes[g] for g in self.forever)
        least = max(self.start().live, last)
        for index in range(len(self.needs)):
            touched = self.reads[index] | self.writes[index]
            saved = self._saved(index, touched, touched)
            least = max(least, sum(self.bytes[g] for g in touched) - saved)
        return least

    def ready(self, state: _State) -> Iterator[int]:
        for index, needs in enumerate(self.needs):
            if not state.done >> index & 1 and not needs & ~state.done:
                yield index


def _embedded(graph: Graph) -> Sharing:
    """Tensors that lie inside each other by views, concats and splits, as far as is simple."""
    sharing = Sharing.of(graph)
    inside: set[str] = set()
    for op in graph.ops:
        if needs_step(graph, op):
            continue
        pairs = list(embeddings[op.kind](graph.view(op)))
        names = [n for e in pairs for n in (e.part, e.whole)]
        parts = [e.part for e in pairs]
        simple = len(set(parts)) == len(parts) and not inside & {*parts}
        if simple and all(n in sharing.tensors and not sharing.tensors[n].is_state for n in names):
            for e in pairs:
                sharing.join(e.part, e.whole, e.offset, lambda a, b: False)
            inside.update(parts)
    return sharing


def _dependencies(graph: Graph) -> list[int]:
    """For each operator the bit set of those that must come before it."""
    producer: dict[str, int] = {}
    touched: dict[str, int] = {}  # state -> the last operator that read or wrote it
    needs = []
    for index, op in enumerate(graph.ops):
        before = 0
        for name in op.inputs:
            if name in producer:
                before |= 1 << producer[name]
        for name in _states(graph, op):
            if name in touched:
                before |= 1 << touched[name]
            touched[name] = index
        for name in op.outputs:
            producer[name] = index
        needs.append(before)
    return needs


def _states(graph: Graph, op: Op) -> list[str]:
    return [n for n in dict.fromkeys((*op.inputs, *op.outputs)) if n and graph.tensors[n].is_state]


def _search(model: _Model, limit: int) -> list[int] | None:
    """An order with a peak below ``limit``, the lowest the beam meets, or None."""
    level = [model.start()]
    budget = MAX_EXPANSIONS
    for _ in model.needs:
        following: dict[int, _State] = {}
        for state in level:
            for index in model.ready(state):
                budget -= 1
                new = model.after(state, index)
                known = following.get(new.done)
                if new.peak < limit and (known is None or new.peak < known.peak):
                    following[new.done] = new
        level = sorted(following.values(), key=_State.rank)[:BEAM_WIDTH]
        if budget < 0:
            level = level[:1]
    if not level:
        return None
    order: list[int] = []
    link: object = level[0].order
    while isinstance(link, tuple):
        order.append(link[0])
        link = link[1]
    return order[::-1]
