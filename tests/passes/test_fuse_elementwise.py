"""Float operators that work element by element become chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.graph import Graph
from compiler.operators.convolution import Conv2dParams
from compiler.operators.elementwise import (
    ArithmeticParams,
    BinaryParams,
    ClampParams,
    LeakyReluParams,
    UnaryParams,
)
from compiler.operators.fused import MAX_STAGES
from compiler.operators.movement import ReshapeParams
from compiler.passes.fuse_elementwise import fuse_elementwise
from compiler.passes.remove_dead_code import remove_dead_code
from compiler.plan import plan
from compiler.scheduler import make_schedule
from compiler.target import target_chain
from tests.support.graphs import QUANT, Sketch, assert_pass_keeps, kinds

SHAPE = (1, 4, 4, 6)
CLAMPED = ArithmeticParams((-2.0, 2.0))


def arena_bytes(graph: Graph) -> int:
    return plan(make_schedule(graph, target_chain("reference"))).arena_bytes


def fused(sketch: Sketch, outputs: list[str]) -> Graph:
    """The graph after the pass, whose results are the same bits and whose arena is no larger."""
    before = sketch.graph(outputs)
    after = assert_pass_keeps(before, fuse_elementwise)
    assert arena_bytes(after) <= arena_bytes(before)
    return after


def test_a_run() -> None:
    """Numbers, a vector, and a tensor that is read again."""
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.constant("scale", np.array([1.5]))
    sketch.constant("offset", np.arange(6.0))
    sketch.op("hard_swish", ["x"], "a", UnaryParams())
    sketch.op("mul", ["scale", "a"], "b", ArithmeticParams(), shape=SHAPE)
    sketch.op("add", ["b", "offset"], "c", ArithmeticParams())
    sketch.op("maximum", ["c", "x"], "y", BinaryParams())
    after = fused(sketch, ["y"])
    assert kinds(after) == ["elementwise_chain"]
    (op,) = after.ops
    assert (op.name, op.inputs) == ("y", ("x", "scale", "offset"))
    assert [stage.operands for stage in op.params.stages] == [(0,), (1, 3), (4, 2), (5, 0)]


def test_a_value_read_twice_inside() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.op("abs", ["x"], "a", UnaryParams())
    sketch.op("logistic", ["a"], "gate", UnaryParams())
    sketch.op("mul", ["gate", "a"], "y", ArithmeticParams())
    assert kinds(fused(sketch, ["y"])) == ["elementwise_chain"]


def test_what_is_read_outside_stays() -> None:
    """By a convolution, or as an output."""
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.constant("w", np.ones((6, 1, 1, 6)))
    sketch.op("abs", ["x"], "a", UnaryParams())
    sketch.op("neg", ["a"], "b", UnaryParams())
    sketch.op("conv2d", ["b", "w"], "c", Conv2dParams())
    sketch.op("tanh", ["b"], "d", UnaryParams())
    sketch.op("sqrt", ["d"], "e", UnaryParams())
    sketch.op("add", ["e", "c"], "y", ArithmeticParams())
    assert kinds(fused(sketch, ["y", "d"])) == [
        "elementwise_chain", "conv2d", "tanh", "elementwise_chain",
    ]  # fmt: skip


def test_other_shapes_end_a_region() -> None:
    """A small tensor is computed once, not for each element of the large one."""
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.input("small", (6,))
    sketch.op("exp", ["small"], "a", UnaryParams())
    sketch.op("add", ["x", "a"], "b", ArithmeticParams())
    sketch.op("reshape", ["b"], "c", ReshapeParams((96,)))
    sketch.op("neg", ["c"], "y", UnaryParams())
    assert kinds(fused(sketch, ["y"])) == ["exp", "add", "reshape", "neg"]


def test_not_what_branches_and_no_integers() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.input("q", SHAPE, QUANT)
    sketch.op("abs", ["x"], "a", UnaryParams())
    sketch.op("sin", ["a"], "y", UnaryParams())
    sketch.op("clamp", ["q"], "b", ClampParams(0.0, 1.0))
    sketch.op("abs", ["b"], "z", UnaryParams())
    assert kinds(fused(sketch, ["y", "z"])) == ["abs", "sin", "clamp", "abs"]


def test_no_tensor_is_kept_longer() -> None:
    """The sum is taken before the convolution that needs the memory of one of its operands."""
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.input("w", SHAPE)
    sketch.input("z", SHAPE)
    sketch.constant("kernel", np.ones((6, 1, 1, 6)))
    sketch.op("add", ["x", "w"], "sum", ArithmeticParams())
    sketch.op("conv2d", ["z", "kernel"], "wide", Conv2dParams())
    sketch.op("conv2d", ["wide", "kernel"], "c", Conv2dParams())
    sketch.op("add", ["sum", "c"], "y", ArithmeticParams())
    assert kinds(fused(sketch, ["y"])) == ["add", "conv2d", "conv2d", "add"]


def test_long_runs_are_cut() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE)
    for index in range(2 * MAX_STAGES + 1):
        sketch.op("neg", [f"v{index - 1}" if index else "x"], f"v{index}", UnaryParams())
    after = fused(sketch, [f"v{2 * MAX_STAGES}"])
    assert len(after.ops) == 3


def convolution(*after: tuple[str, Any]) -> Graph:
    """A convolution of 6 channels and operators on its result; "add" takes the input too."""
    sketch = Sketch()
    sketch.input("x", SHAPE)
    sketch.constant("w", np.ones((6, 3, 3, 6)))
    name = sketch.op("conv2d", ["x", "w"], "c", Conv2dParams(padding=(1, 1, 1, 1)))
    for index, (kind, params) in enumerate(after):
        inputs = [name, "x"] if kind == "add" else [name]
        name = sketch.op(kind, inputs, f"v{index}", params)
    return sketch.graph([name])


def test_what_follows_a_convolution_needs_no_memory() -> None:
    """Activations and residual sums overwrite its result, one by one or as a chain."""
    alone = arena_bytes(convolution())
    leaky, add = ("leaky_relu", LeakyReluParams(0.1)), ("add", ArithmeticParams())
    swish, logistic = ("hard_swish", UnaryParams()), ("logistic", UnaryParams())
    for after in ([leaky], [logistic], [swish], [add], [swish, add, leaky]):
        graph = convolution(*after)
        assert arena_bytes(graph) == alone
        assert arena_bytes(fuse_elementwise(graph)) == alone


UNARY_STAGES = [
    *((kind, UnaryParams()) for kind in ("tanh", "abs", "neg", "logistic", "sin", "hard_swish")),
    ("leaky_relu", LeakyReluParams(0.3)), ("clamp", ClampParams(-0.5, 1.0)),
]  # fmt: skip
BINARY_STAGES = [
    ("add", CLAMPED), ("sub", CLAMPED), ("mul", CLAMPED), ("maximum", BinaryParams()),
]  # fmt: skip


@st.composite
def random_graphs(draw: st.DrawFn) -> Graph:
    """Elementwise operators over a few inputs and constants, with a convolution now and then."""
    sketch = Sketch()
    names = [sketch.input("x", SHAPE), sketch.input("w", SHAPE)]
    constants = [
        sketch.constant("number", np.array(0.7)),
        sketch.constant("vector", np.linspace(-1, 1, 6)),
        sketch.constant("column", np.linspace(-1, 1, 4).reshape(1, 4, 1, 1)),
    ]
    kernel = sketch.constant("kernel", np.eye(6).reshape(6, 1, 1, 6))
    for index in range(draw(st.integers(2, 14))):
        x, name = draw(st.sampled_from(names[-4:])), f"v{index}"
        choice = draw(st.integers(0, 9))
        if choice == 0:
            sketch.op("conv2d", [x, kernel], name, Conv2dParams(clamp=(-2.0, 2.0)))
        elif choice < 5:
            kind, unary = draw(st.sampled_from(UNARY_STAGES))
            sketch.op(kind, [x], name, unary)
        else:
            other = draw(st.sampled_from([*names[-5:], *constants]))
            kind, binary = draw(st.sampled_from(BINARY_STAGES))
            operands = [x, other] if draw(st.booleans()) else [other, x]
            sketch.op(kind, operands, name, binary)
        names.append(name)
    kept = draw(st.lists(st.sampled_from(names[2:]), max_size=2, unique=True))
    return remove_dead_code(sketch.graph(list(dict.fromkeys([names[-1], *kept]))))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(random_graphs())
def test_random_graphs(graph: Graph) -> None:
    after = assert_pass_keeps(graph, fuse_elementwise, runs=1)
    assert len(after.ops) <= len(graph.ops)
    assert arena_bytes(after) <= arena_bytes(graph)
