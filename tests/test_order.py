"""The order of execution: never worse than the file's, exact on small graphs, quick."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence

import pytest

from compiler.graph import Graph, Op, Tensor
from compiler.loading import load_builtins
from compiler.operators.elementwise import ArithmeticParams
from compiler.operators.movement import ConcatParams
from compiler.order import order_graph

load_builtins()


def conv(name: str, *inputs: str) -> Op:
    return Op("conv2d", name, inputs, (name,))


def graph_of(ops: Sequence[Op], sizes: dict[str, int], outputs: Sequence[str]) -> Graph:
    tensors = {name: Tensor(name, (size,), "int8") for name, size in sizes.items()}
    return Graph("net", tensors, tuple(ops), ("in",), tuple(outputs))


def peak(graph: Graph) -> int:
    """Live bytes with nothing in place, by definition."""
    most = 0
    for now in range(len(graph.ops)):
        live = 0
        for name, tensor in graph.tensors.items():
            made = [i for i, op in enumerate(graph.ops) if name in op.outputs]
            used = [i for i, op in enumerate(graph.ops) if name in op.inputs]
            first = made[0] if made else -1
            last = len(graph.ops) if name in graph.outputs else max(used, default=first)
            live += tensor.bytes * (first <= now <= last)
        most = max(most, live)
    return most


def orders(graph: Graph, done: tuple[Op, ...] = ()) -> Iterator[Graph]:
    """Every order that respects the dependencies."""
    if len(done) == len(graph.ops):
        yield graph.replace(ops=done)
    made = {*graph.inputs, *(n for op in done for n in op.outputs)}
    for op in graph.ops:
        if op not in done and made.issuperset(op.inputs):
            yield from orders(graph, (*done, op))


def random_graph(seed: int, count: int) -> Graph:
    dice = random.Random(seed)
    names, ops, sizes = ["in"], [], {"in": 50}
    for i in range(count):
        name = f"t{i}"
        inputs = dice.sample(names[-6:], min(len(names[-6:]), dice.choice((1, 1, 2))))
        ops.append(conv(name, *inputs))
        sizes[name] = dice.randrange(1, 400)
        names.append(name)
    read = {n for op in ops for n in op.inputs}
    return graph_of(ops, sizes, [n for n in names if n not in read])


def test_two_branches_one_after_the_other() -> None:
    """The file interleaves two fat branches that end thin."""
    ops = [
        conv("a1", "in"), conv("b1", "in"), conv("a2", "a1"), conv("b2", "b1"),
        conv("y", "a2", "b2"),
    ]  # fmt: skip
    graph = graph_of(ops, {"in": 10, "a1": 100, "b1": 100, "a2": 5, "b2": 5, "y": 5}, ["y"])
    ordered = order_graph(graph)
    assert peak(graph) == 210
    assert peak(ordered) == 115
    assert sorted(op.name for op in ordered.ops) == sorted(op.name for op in graph.ops)


@pytest.mark.parametrize("seed", range(12))
def test_small_graphs_get_the_best_order_of_all(seed: int) -> None:
    graph = random_graph(seed, 7)
    assert peak(order_graph(graph)) == min(peak(other) for other in orders(graph))


@pytest.mark.parametrize("seed", range(8))
def test_it_is_never_worse_valid_and_reproducible(seed: int) -> None:
    graph = random_graph(seed, 40)
    ordered = order_graph(graph)
    made = {"in"}
    for op in ordered.ops:
        assert made.issuperset(op.inputs)
        made.update(op.outputs)
    assert len(ordered.ops) == 40
    assert peak(ordered) <= peak(graph)
    assert ordered.ops == order_graph(graph).ops


def test_the_file_order_stays_where_it_is_as_good() -> None:
    ops = [conv("a", "in"), conv("b", "in"), conv("y", "b", "a")]
    graph = graph_of(ops, {"in": 10, "a": 10, "b": 10, "y": 10}, ["y"])
    assert order_graph(graph) is graph


def test_a_concat_is_seen_as_one_buffer() -> None:
    ops = [
        conv("a1", "in"), conv("b1", "in"), conv("a2", "a1"), conv("b2", "b1"),
        Op("concat", "c", ("a2", "b2"), ("c",), ConcatParams(0)), conv("y", "c"),
    ]  # fmt: skip
    graph = graph_of(ops, {"in": 9, "a1": 90, "b1": 90, "a2": 5, "b2": 5, "c": 10, "y": 1}, ["y"])
    names = [op.name for op in order_graph(graph).ops]
    assert names.index("a2") < names.index("b1") or names.index("b2") < names.index("a1")


def test_reads_and_writes_of_a_state_keep_their_order() -> None:
    state = Tensor("s", (64,), "int8", is_state=True)
    ops = [
        conv("a", "in"),
        Op("add", "old", ("s", "a"), ("old",), ArithmeticParams()),
        Op("conv2d", "write", ("a",), ("s",)),
        conv("b", "old"),
        conv("y", "b"),
    ]
    sizes = {"in": 1, "a": 64, "old": 64, "b": 200, "y": 1}
    graph = graph_of(ops, sizes, ["y"])
    graph = graph.replace(tensors={**graph.tensors, "s": state})
    names = [op.name for op in order_graph(graph).ops]
    assert names.index("old") < names.index("write")


def test_two_hundred_operators_take_less_than_a_third_of_a_second() -> None:
    graph = random_graph(5, 200)
    started = time.process_time()
    order_graph(graph)
    assert time.process_time() - started < 1.0  # 0.3 on a machine of its own
