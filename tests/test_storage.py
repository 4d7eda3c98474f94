"""Where tensors are placed: views, concat and split without a step, results in place."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from compiler.errors import UnsupportedError
from compiler.graph import Graph, Op, OpView, Quantization, Tensor
from compiler.kernels import Call, Kernel, Output, Scratch
from compiler.loading import load_builtins
from compiler.operators.elementwise import ArithmeticParams, UnaryParams
from compiler.operators.movement import ConcatParams, ReshapeParams, SliceParams, SplitParams
from compiler.operators.state import AssignStateParams
from compiler.passes.settle_states import settle_states
from compiler.plan import Plan, plan
from compiler.planner.verify import faults
from compiler.schedule import Schedule, Step
from compiler.storage import Storage, place_tensors

load_builtins()


class FakeKernel(Kernel):
    """Overwrites any input of the same bytes; ``scratch`` bytes by operator name."""

    def __init__(self, in_place: bool) -> None:
        self.allows = in_place

    def in_place(self, view: OpView) -> Mapping[int, int | tuple[int, ...]]:
        if not self.allows:
            return {}
        fitting = [i for i, t in enumerate(view.inputs) if t and t.bytes >= view.output().bytes]
        return {0: tuple(fitting)}


IN_PLACE = {"add", "abs", "quantize"}


class Net:
    """A graph under construction; tensors are int8 unless said otherwise."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.ops: list[Op] = []
        self.scratch: dict[str, int] = {}

    def tensor(self, name: str, shape: Sequence[int], dtype: str = "int8", **more: object) -> str:
        self.tensors[name] = Tensor(name, tuple(shape), dtype, **more)  # type: ignore[arg-type]
        return name

    def op(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], params: object) -> None:
        self.ops.append(Op(kind, outputs[0], tuple(inputs), tuple(outputs), params))

    def conv(self, source: str, name: str, shape: Sequence[int], scratch: int = 0) -> str:
        """Stands for any operator that cannot work in place."""
        self.op("conv2d", [source], [self.tensor(name, shape)], None)
        self.scratch[name] = scratch
        return name

    def abs(self, source: str, name: str) -> str:
        t = self.tensors[source]
        self.op("abs", [source], [self.tensor(name, t.shape, t.dtype)], UnaryParams())
        return name

    def add(self, a: str, b: str, name: str) -> str:
        t = self.tensors[a]
        self.op("add", [a, b], [self.tensor(name, t.shape, t.dtype)], ArithmeticParams())
        return name

    def reshape(self, source: str, name: str, shape: Sequence[int]) -> str:
        t = self.tensors[source]
        self.op("reshape", [source], [self.tensor(name, shape, t.dtype)], ReshapeParams((*shape,)))
        return name

    def concat(self, parts: Sequence[str], name: str, axis: int, **more: object) -> str:
        first = self.tensors[parts[0]]
        shape = list(first.shape)
        shape[axis] = sum(self.tensors[p].shape[axis] for p in parts)
        self.op(
            "concat", parts, [self.tensor(name, shape, first.dtype, **more)], ConcatParams(axis)
        )
        return name

    def split(self, source: str, names: Sequence[str], axis: int) -> None:
        t = self.tensors[source]
        shape = list(t.shape)
        shape[axis] //= len(names)
        for name in names:
            self.tensor(name, shape, t.dtype)
        self.op("split", [source], names, SplitParams(axis, (shape[axis],) * len(names)))

    def slice(self, source: str, name: str, begin: Sequence[int], size: Sequence[int]) -> str:
        t = self.tensors[source]
        self.tensor(name, size, t.dtype)
        params = SliceParams(tuple(begin), tuple(size), (1,) * len(size))
        self.op("slice", [source], [name], params)
        return name

    def graph(self, inputs: Sequence[str], outputs: Sequence[str]) -> Graph:
        return Graph("net", self.tensors, tuple(self.ops), tuple(inputs), tuple(outputs))

    def storage(
        self, inputs: Sequence[str], outputs: Sequence[str], alignment: int = 1, views: bool = True
    ) -> tuple[Storage, Plan]:
        graph = self.graph(inputs, outputs)
        steps = []
        for index, op in enumerate(graph.ops):
            if op.kind == "reshape" and not views:
                continue
            size = self.scratch.get(op.name, 0)
            call = Call("s", {}, (Output(0), *([Scratch(size)] if size else [])))
            steps.append(Step(index, graph.view(op), FakeKernel(op.kind in IN_PLACE), call))
        storage = place_tensors(graph, steps, alignment)
        made = plan(
            Schedule(graph, ("fake",), storage.steps, storage.places, alignment, storage.buffers)
        )
        assert not faults(storage.buffers, made.offsets, made.arena_bytes, alignment)
        simulate(storage, made, graph)
        return storage, made


def simulate(storage: Storage, made: Plan, graph: Graph) -> None:
    """Run on a byte-for-byte arena of labels: every step must find its inputs unharmed."""
    arena: dict[int, tuple[str, int]] = {}
    alias_of: dict[str, list[tuple[str, int]]] = {}  # value -> per byte (origin, byte)
    kept = {id(step.view.op) for step in storage.steps}

    def write(name: str, labels: list[tuple[str, int]]) -> None:
        start = made.tensor_offset(name)
        arena.update({start + i: label for i, label in enumerate(labels)})

    def check(name: str, when: str) -> None:
        start = made.tensor_offset(name)
        found = [arena.get(start + i) for i in range(graph.tensors[name].bytes)]
        assert found == alias_of[name], f"{name} is damaged at {when}"

    def check_overlap(op: Op, read: str, written: str) -> None:
        """A kernel overwrites an input from its first byte on, if at all."""
        a, b = made.tensor_offset(read), made.tensor_offset(written)
        ends = a + graph.tensors[read].bytes, b + graph.tensors[written].bytes
        if read != written and a < ends[1] and b < ends[0]:
            assert op.kind in IN_PLACE and a == b and ends[1] <= ends[0], (read, written)

    def fresh(name: str) -> list[tuple[str, int]]:
        return [(name, i) for i in range(graph.tensors[name].bytes)]

    states = [name for name, tensor in graph.tensors.items() if tensor.is_state]
    for name in [*graph.inputs, *states]:
        alias_of[name] = fresh(name)
        write(name, alias_of[name])
    for op in graph.ops:
        sources = [n for n in op.inputs if n in storage.places]
        if id(op) in kept:
            for name in sources:
                check(name, op.name)
                for written in op.outputs:
                    check_overlap(op, name, written)
            for name in op.outputs:
                alias_of[name] = fresh(name)
                write(name, alias_of[name])
            continue
        values = [alias_of[n] for n in sources]
        if op.kind == "concat":
            alias_of[op.outputs[0]] = [label for value in values for label in value]
        elif op.kind == "split":
            size = len(values[0]) // len(op.outputs)
            for i, name in enumerate(op.outputs):
                alias_of[name] = values[0][i * size : (i + 1) * size]
        elif op.kind == "slice":
            shape = graph.tensors[sources[0]].shape
            cut = tuple(
                slice(b, b + n) for b, n in zip(op.params.begin, op.params.size, strict=True)
            )
            width = graph.tensors[sources[0]].bytes // int(np.prod(shape))
            picked = np.arange(np.prod(shape)).reshape(shape)[cut].reshape(-1)
            alias_of[op.outputs[0]] = [
                values[0][int(e) * width + k] for e in picked for k in range(width)
            ]
        else:
            alias_of[op.outputs[0]] = values[0]
    for name in graph.outputs:
        check(name, "the end")


def test_chain_keeps_two_buffers() -> None:
    net = Net()
    x = net.tensor("x", (1, 100))
    a = net.conv(x, "a", (1, 80))
    b = net.conv(a, "b", (1, 60))
    c = net.conv(b, "c", (1, 10))
    storage, made = net.storage([x], [c])
    assert made.arena_bytes == made.lower_bound_bytes == 180
    assert [(b.name, b.first, b.last) for b in storage.buffers] == [
        ("x", -1, 0), ("a", 0, 1), ("b", 1, 2), ("c", 2, 3),
    ]  # fmt: skip


def test_residual_add_overwrites_the_dying_operand() -> None:
    net = Net()
    x = net.conv(net.tensor("in", (1, 8)), "x", (1, 64))
    a = net.conv(x, "a", (1, 64))
    b = net.conv(a, "b", (1, 64))
    c = net.add(x, b, "c")
    storage, made = net.storage(["in"], [net.conv(c, "d", (1, 4))])
    assert storage.places["c"].buffer == "x"
    assert made.arena_bytes == 3 * 64


def test_add_does_not_overwrite_what_is_read_later() -> None:
    net = Net()
    x = net.conv(net.tensor("in", (1, 8)), "x", (1, 64))
    a = net.conv(x, "a", (1, 64))
    c = net.add(x, a, "c")
    d = net.add(c, x, "d")
    storage, _ = net.storage(["in"], [d])
    assert storage.places["c"].buffer == "a"  # x is read again; a is not


def test_add_of_a_tensor_to_itself_is_in_place() -> None:
    net = Net()
    x = net.conv(net.tensor("in", (1, 8)), "x", (1, 64))
    storage, _ = net.storage(["in"], [net.add(x, x, "y")])
    assert storage.places["y"] == storage.places["x"]


def test_add_of_a_tensor_to_its_other_shape_is_not_in_place() -> None:
    net = Net()
    x = net.conv(net.tensor("in", (1, 8)), "x", (1, 8, 8))
    other = net.reshape(x, "other", (8, 1, 8))
    net.op("add", [x, other], [net.tensor("y", (1, 8, 8))], ArithmeticParams())
    storage, _ = net.storage(["in"], ["y"])
    assert storage.places["y"].buffer != storage.places["x"].buffer


def test_output_is_never_overwritten() -> None:
    net = Net()
    x = net.conv(net.tensor("in", (1, 8)), "x", (1, 64))
    y = net.abs(x, "y")
    storage, _ = net.storage(["in"], [x, y])
    assert storage.places["y"].buffer != storage.places["x"].buffer


def test_input_may_be_overwritten_after_its_last_read() -> None:
    net = Net()
    y = net.abs(net.tensor("x", (1, 64)), "y")
    _, made = net.storage(["x"], [y])
    assert made.arena_bytes == 64


def test_input_that_is_an_output_stays() -> None:
    net = Net()
    y = net.abs(net.tensor("x", (1, 64)), "y")
    _, made = net.storage(["x"], ["x", y])
    assert made.arena_bytes == 128


def test_smaller_result_shares_only_where_the_peak_falls() -> None:
    net = Net()
    x = net.tensor("x", (1, 64), "float32")
    q = net.tensor("q", (1, 64))
    net.op("quantize", [x], [q], None)
    storage, made = net.storage([x], [net.conv(q, "y", (1, 16))])
    assert storage.places["q"].buffer == "x" and made.arena_bytes == 256 + 16

    wide = Net()
    x = wide.tensor("x", (1, 64), "float32")
    q = wide.tensor("q", (1, 64))
    wide.op("quantize", [x], [q], None)
    storage, made = wide.storage([x], [wide.conv(q, "y", (1, 256))])
    assert storage.places["q"].buffer == "q" and made.arena_bytes == 256 + 64


def test_reshape_costs_no_step_with_or_without_a_kernel() -> None:
    for views in (True, False):
        net = Net()
        a = net.conv(net.tensor("x", (1, 4, 4, 2)), "a", (1, 4, 4, 2))
        r = net.reshape(a, "r", (1, 32))
        storage, made = net.storage(["x"], [net.conv(r, "y", (1, 3))], views=views)
        assert [step.name for step in storage.steps] == ["a", "y"]
        assert [step.index for step in storage.steps] == [0, 1]
        assert storage.places["r"] == storage.places["a"]
        assert made.arena_bytes == 64


def test_reshape_of_an_input_to_an_output_needs_nothing() -> None:
    net = Net()
    y = net.reshape(net.tensor("x", (4, 4)), "y", (16,))
    storage, made = net.storage(["x"], [y], views=False)
    assert storage.steps == () and made.arena_bytes == 16
    assert (storage.buffers[0].first, storage.buffers[0].last) == (-1, 0)


def test_reshape_of_a_constant_keeps_its_step() -> None:
    net = Net()
    k = net.tensor("k", (4, 4), data=np.zeros((4, 4), np.int8))
    y = net.reshape(k, "y", (16,))
    storage, _ = net.storage([], [y])
    assert [step.name for step in storage.steps] == ["y"]
    with pytest.raises(UnsupportedError, match=r"'reshape' \(y\).*register a kernel"):
        net.storage([], [y], views=False)


def test_concat_along_the_outermost_axis_that_varies_costs_no_step() -> None:
    net = Net()
    x = net.tensor("x", (1, 8, 4, 3))
    a = net.conv(x, "a", (1, 2, 4, 3))
    b = net.conv(x, "b", (1, 3, 4, 3))
    c = net.concat([a, b], "c", 1)
    storage, _ = net.storage([x], [net.conv(c, "y", (1, 2))])
    assert [step.name for step in storage.steps] == ["a", "b", "y"]
    assert storage.places["a"].offset == 0 and storage.places["b"].offset == 24
    assert storage.places["a"].buffer == storage.places["b"].buffer == storage.places["c"].buffer


def test_concat_of_channels_keeps_its_step() -> None:
    net = Net()
    x = net.tensor("x", (1, 4, 4, 2))
    a, b = net.conv(x, "a", (1, 4, 4, 2)), net.conv(x, "b", (1, 4, 4, 2))
    storage, _ = net.storage([x], [net.concat([a, b], "c", 3)])
    assert [step.name for step in storage.steps] == ["a", "b", "c"]


def test_concat_that_requantizes_keeps_its_step() -> None:
    net = Net()
    x = net.tensor("x", (1, 8))
    a, b = net.conv(x, "a", (1, 8)), net.conv(x, "b", (1, 8))
    c = net.concat([a, b], "c", 1, quant=Quantization((0.5,), (1,)))
    storage, _ = net.storage([x], [c])
    assert [step.name for step in storage.steps] == ["a", "b", "c"]


@pytest.mark.parametrize("case", ["constant", "twice", "input second", "two concats"])
def test_concat_that_cannot_hold_an_input_keeps_its_step(case: str) -> None:
    net = Net()
    x = net.tensor("x", (1, 8))
    a, b = net.conv(x, "a", (1, 8)), net.conv(x, "b", (1, 8))
    k = net.tensor("k", (1, 8), data=np.zeros((1, 8), np.int8))
    parts = {"constant": [a, k], "twice": [a, a], "input second": [a, x], "two concats": [a, b]}
    c = net.concat(parts[case], "c", 1)
    outputs = [c, b]
    if case == "two concats":
        outputs.append(net.concat([b, a], "d", 1))
    storage, _ = net.storage([x], outputs)
    assert storage.steps[-1].name == ("d" if case == "two concats" else "c")


def test_nested_concats_grow_in_one_buffer() -> None:
    net = Net()
    x = net.conv(net.tensor("in", (1, 4)), "x", (1, 8))
    y = net.concat([x, net.conv(x, "fx", (1, 8))], "y", 1)
    z = net.concat([y, net.conv(y, "fy", (1, 8))], "z", 1)
    storage, made = net.storage(["in"], [net.conv(z, "out", (1, 2))])
    assert [step.name for step in storage.steps] == ["x", "fx", "fy", "out"]
    assert made.arena_bytes == 24 + 4


def test_a_result_in_a_concat_is_not_overwritten_by_another_reader() -> None:
    net = Net()
    x = net.conv(net.tensor("in", (1, 4)), "x", (1, 8))
    y = net.abs(x, "y")
    c = net.concat([x, y], "c", 1)
    storage, _ = net.storage(["in"], [net.conv(c, "out", (1, 2))])
    assert storage.places["y"].offset == 8


def test_concat_keeps_its_step_where_that_lowers_the_peak() -> None:
    net = Net()
    x = net.tensor("x", (1, 4))
    tiny = net.conv(x, "tiny", (1, 4))
    wide = net.conv(net.conv(x, "w0", (1, 500)), "w1", (1, 500))
    late = net.conv(wide, "late", (1, 300))
    c = net.concat([tiny, late], "c", 1)
    storage, made = net.storage([x], [net.conv(c, "y", (1, 2))])
    assert "c" in [step.name for step in storage.steps]
    assert made.lower_bound_bytes == 4 + 1000


def test_split_is_read_in_place_and_keeps_its_source() -> None:
    net = Net()
    a = net.conv(net.tensor("x", (1, 4)), "a", (1, 2, 8))
    net.split(a, ["s0", "s1"], 1)
    p, q = net.conv("s0", "p", (1, 4)), net.conv("s1", "q", (1, 4))
    storage, _ = net.storage(["x"], [p, q])
    assert [step.name for step in storage.steps] == ["a", "p", "q"]
    assert storage.places["s1"].offset == 8


@pytest.mark.parametrize(
    ("begin", "size", "offset"),
    [((0, 1, 0), (1, 2, 5), 5), ((1, 2, 3), (1, 1, 2), 33), ((1, 0, 0), (1, 4, 5), 20),
     ((0, 0, 1), (1, 2, 3), None), ((0, 0, 0), (2, 2, 5), None)],
)  # fmt: skip
def test_slice_of_one_run_is_read_in_place(
    begin: Sequence[int], size: Sequence[int], offset: int | None
) -> None:
    net = Net()
    a = net.conv(net.tensor("x", (1, 4)), "a", (2, 4, 5))
    s = net.slice(a, "s", begin, size)
    storage, _ = net.storage(["x"], [net.conv(s, "y", (1, 2))])
    if offset is None:
        assert [step.name for step in storage.steps] == ["a", "s", "y"]
    else:
        assert [step.name for step in storage.steps] == ["a", "y"]
        assert storage.places["s"].offset == offset


def test_a_part_that_would_lose_its_element_alignment_is_copied() -> None:
    net = Net()
    a = net.conv(net.tensor("x", (1, 4)), "a", (1, 6))
    net.split(a, ["s0", "s1"], 1)
    flat = net.tensors["s1"]
    net.op("reshape", ["s1"], [net.tensor("w", (1,), "int16")], ReshapeParams((1,)))
    assert flat.bytes == 3
    storage, _ = net.storage(["x"], [net.conv("w", "y", (1, 2))])
    assert "w" in [step.name for step in storage.steps]


def test_scratch_lives_in_its_step_only() -> None:
    net = Net()
    a = net.conv(net.tensor("x", (1, 32)), "a", (1, 32), scratch=100)
    b = net.conv(a, "b", (1, 32), scratch=40)
    storage, made = net.storage(["x"], [b])
    assert made.arena_bytes == made.lower_bound_bytes == 164
    scratch = [(b.name, b.bytes, b.first, b.last) for b in storage.buffers if "scratch" in b.name]
    assert scratch == [("scratch 0.1", 100, 0, 0), ("scratch 1.1", 40, 1, 1)]
    assert made.scratch_offset(0, 1) >= 0 and made.scratch_bytes == 100


def test_state_is_a_buffer_of_its_own_for_good() -> None:
    net = Net()
    s = net.tensor("s", (1, 32), is_state=True, data=np.zeros((1, 32), np.int8))
    x = net.tensor("x", (1, 32))
    y = net.add(s, x, "y")
    storage, made = net.storage([x], [y])
    assert storage.places["y"].buffer == "x"
    state = next(b for b in storage.buffers if b.name == "s")
    assert (state.first, state.last, state.fixed) == (-1, 1, True)
    assert made.state_bytes == 32


def test_a_view_of_a_state_that_changes_is_copied() -> None:
    net = Net()
    s = net.tensor("s", (1, 32), is_state=True)
    old = net.reshape(s, "old", (32,))
    net.op("abs", [net.tensor("x", (1, 32))], [s], UnaryParams())
    storage, _ = net.storage(["x"], [old])
    assert [step.name for step in storage.steps] == ["old", "s"]
    assert storage.places["old"].buffer != storage.places["s"].buffer


def random_net(seed: int, count: int) -> tuple[Net, list[str]]:
    """Anything that shares memory, mixed: what the byte simulation in ``storage`` then checks."""
    dice = random.Random(seed)
    net = Net()
    pool = [net.tensor("in", (1, 4, 6))]
    if dice.random() < 0.3:
        pool.append(net.tensor("s", (1, 4, 6), is_state=True))
    for i in range(count):
        name = f"t{i}"
        source = dice.choice(pool[-5:])
        shape = net.tensors[source].shape
        kind = dice.choice(("conv", "abs", "abs", "add", "reshape", "concat", "split", "slice"))
        alike = [n for n in pool if net.tensors[n].shape == shape]
        if kind == "conv":
            sizes = dice.choice(((1, 4, 6), (1, 2, 6), (1, 24), (1, 8, 2)))
            pool.append(net.conv(source, name, sizes, scratch=dice.choice((0, 0, 7))))
        elif kind == "abs":
            pool.append(net.abs(source, name))
        elif kind == "add":
            pool.append(net.add(source, dice.choice(alike), name))
        elif kind == "reshape":
            pool.append(net.reshape(source, name, (1, net.tensors[source].bytes)))
        elif kind == "concat":
            parts = [source, *dice.choices(alike, k=dice.choice((1, 1, 2)))]
            if sum(net.tensors[p].bytes for p in parts) < 200:
                pool.append(net.concat(parts, name, dice.randrange(1, len(shape))))
        elif kind == "split" and shape[1] % 2 == 0:
            net.split(source, [name, f"{name}b"], 1)
            pool += [name, f"{name}b"]
        elif kind == "slice" and shape[1] > 1:
            begin = (0, dice.randrange(shape[1]), *(0,) * (len(shape) - 2))
            size = (1, dice.randrange(1, shape[1] - begin[1] + 1), *shape[2:])
            pool.append(net.slice(source, name, begin, size))
    read = {n for op in net.ops for n in op.inputs}
    made = [n for op in net.ops for n in op.outputs]
    return net, [n for n in made if n not in read or dice.random() < 0.1]


@pytest.mark.parametrize("seed", range(150))
def test_random_networks_never_read_a_damaged_tensor(seed: int) -> None:
    net, outputs = random_net(seed, 3 + seed % 25)
    net.storage(["in"], outputs)


@pytest.mark.parametrize("seed", range(80))
def test_random_states_are_read_before_they_are_overwritten(seed: int) -> None:
    """Concats, slices and in-place results of a state that one of them becomes."""
    net, outputs = random_net(seed + 1000, 4 + seed % 20)
    dice = random.Random(seed)
    state = net.tensor("s", (1, 4, 6), is_state=True)
    for index, op in enumerate(net.ops):  # let it stand for some of the inputs
        same = [n for n in op.inputs if net.tensors[n].shape == (1, 4, 6) and n != "s"]
        if same and dice.random() < 0.5:
            inputs = tuple(state if n == same[0] else n for n in op.inputs)
            net.ops[index] = Op(op.kind, op.name, inputs, op.outputs, op.params)
    fitting = [n for op in net.ops for n in op.outputs if net.tensors[n].bytes == 24]
    value = dice.choice(fitting) if fitting else "in"
    net.op("assign_state", [value], [state], AssignStateParams())
    settled = settle_states(net.graph(["in"], outputs))
    net.ops = list(settled.ops)
    net.storage(["in"], outputs)
