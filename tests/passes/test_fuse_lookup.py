"""Operators between two 8-bit tensors become tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.graph import Graph, Op, Quantization
from compiler.operators.convolution import DepthwiseConv2dParams
from compiler.operators.elementwise import (
    ArithmeticParams,
    BinaryParams,
    CastParams,
    ClampParams,
    LeakyReluParams,
    PreluParams,
    UnaryParams,
)
from compiler.operators.quantization import QuantizeParams
from compiler.operators.state import AssignStateParams
from compiler.passes.fuse_lookup import fuse_lookup
from compiler.tables import byte_table
from tests.support.graphs import QUANT, Sketch, assert_pass_keeps, kinds

SHAPE = (1, 4, 8, 8)  # 256 elements: nearly every value
OTHER = Quantization((0.03,), (-7,))
UNSIGNED = Quantization((0.01,), (90,))
UNIT = Quantization((1 / 256,), (-128,))


def test_a_run_of_unary_operators() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.op("logistic", ["x"], "a", UnaryParams(), quant=UNIT)
    sketch.op("requantize", ["a"], "b", QuantizeParams(), quant=UNSIGNED, dtype="uint8")
    sketch.op("leaky_relu", ["b"], "y", LeakyReluParams(0.2))
    after = assert_pass_keeps(sketch.graph(["y"]), fuse_lookup)
    assert kinds(after) == ["lookup"]
    assert after.ops[0].params.kinds == ("logistic", "requantize", "leaky_relu")
    assert (after.ops[0].name, after.ops[0].inputs) == ("y", ("x",))


def test_by_way_of_float() -> None:
    """What the board computes in float32 with its own exponential is now the same bits."""
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.constant("half", np.array([[0.5]]))
    sketch.op("dequantize", ["x"], "a", QuantizeParams(), quant=None, dtype="float32")
    sketch.op("exp", ["a"], "b", UnaryParams())
    sketch.op("mul", ["half", "b"], "c", ArithmeticParams(), shape=SHAPE)
    sketch.op("quantize", ["c"], "y", QuantizeParams(), quant=OTHER, dtype="int8")
    assert kinds(assert_pass_keeps(sketch.graph(["y"]), fuse_lookup)) == ["lookup"]


def test_one_operator() -> None:
    """Arithmetic with a number is slower than a table; a unary operator is one already."""
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.constant("three", np.array([60], np.int8), QUANT)
    sketch.op("tanh", ["x"], "y", UnaryParams())
    sketch.op("add", ["x", "three"], "z", ArithmeticParams())
    sketch.op("mul", ["x", "x"], "square", ArithmeticParams())
    after = assert_pass_keeps(sketch.graph(["y", "z", "square"]), fuse_lookup)
    assert kinds(after) == ["tanh", "lookup", "lookup"]


def test_hard_swish_in_arithmetic() -> None:
    """Two functions of one tensor are one function of it."""
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.constant("three", np.array([60], np.int8), QUANT)
    sketch.constant("sixth", np.array([127], np.int8), Quantization((1 / 6 / 127,), (0,)))
    sketch.op("add", ["x", "three"], "a", ArithmeticParams((0.0, 6.0)))
    sketch.op("mul", ["a", "x"], "b", ArithmeticParams(), quant=Quantization((0.1,), (-60,)))
    sketch.op("mul", ["b", "sixth"], "y", ArithmeticParams(), quant=OTHER)
    assert kinds(assert_pass_keeps(sketch.graph(["y"]), fuse_lookup)) == ["lookup"]


def test_what_is_there_anyway_is_the_root() -> None:
    """The convolution needs b, so that the table reads b and x may go."""
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    weight = np.ones((1, 1, 1, 8), np.int8)
    sketch.constant("w", weight, Quantization((0.01,), (0,)))
    for source, result in (("x", "a"), ("a", "b"), ("b", "c"), ("c", "d")):
        sketch.op("leaky_relu", [source], result, LeakyReluParams(0.7))
    sketch.op("depthwise_conv2d", ["b", "w"], "e", DepthwiseConv2dParams())
    sketch.op("add", ["d", "e"], "y", ArithmeticParams())
    after = assert_pass_keeps(sketch.graph(["y"]), fuse_lookup)
    assert kinds(after) == ["lookup", "lookup", "depthwise_conv2d", "add"]
    assert [op.inputs[0] for op in after.ops[:2]] == ["x", "b"]


def test_two_tables_of_what_only_they_need() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.op("abs", ["x"], "a", UnaryParams())
    sketch.op("tanh", ["a"], "y", UnaryParams())
    sketch.op("neg", ["a"], "z", UnaryParams())
    after = assert_pass_keeps(sketch.graph(["y", "z"]), fuse_lookup)
    assert kinds(after) == ["lookup", "lookup"]
    assert {op.inputs for op in after.ops} == {("x",)}


def test_two_tensors_are_no_table() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.input("w", SHAPE, QUANT)
    sketch.input("small", (8,), QUANT)
    sketch.op("add", ["x", "w"], "a", ArithmeticParams())
    sketch.op("add", ["a", "small"], "b", ArithmeticParams())
    sketch.op("neg", ["b"], "c", UnaryParams())
    sketch.op("abs", ["c"], "y", UnaryParams())
    after = assert_pass_keeps(sketch.graph(["y"]), fuse_lookup)
    assert kinds(after) == ["add", "add", "lookup"]


@pytest.mark.parametrize("dtype", ["int16", "int32"])
def test_wider_types_are_no_table(dtype: str) -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.op("cast", ["x"], "a", CastParams(dtype), quant=None, dtype=dtype)
    sketch.op("abs", ["a"], "y", UnaryParams())
    assert kinds(assert_pass_keeps(sketch.graph(["y"]), fuse_lookup)) == ["cast", "abs"]


def test_vectors_and_channels_are_no_table() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.constant("slope", np.arange(8, dtype=np.int8), Quantization((0.01,), (0,)))
    sketch.op("prelu", ["x", "slope"], "a", PreluParams())
    sketch.op("neg", ["a"], "y", UnaryParams())
    assert kinds(assert_pass_keeps(sketch.graph(["y"]), fuse_lookup)) == ["prelu", "neg"]


def test_states_are_read_where_they_were() -> None:
    """A table would read the state after it is written."""
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.input("s", SHAPE, QUANT)
    sketch.op("abs", ["s"], "a", UnaryParams())
    sketch.ops.append(Op("assign_state", "s", ("x",), ("s",), AssignStateParams()))
    sketch.op("tanh", ["a"], "y", UnaryParams())
    graph = sketch.graph(["y"])
    state = replace(graph.tensors["s"], is_state=True, data=np.zeros(SHAPE, np.int8))
    graph = graph.replace(tensors={**graph.tensors, "s": state}, inputs=("x",))
    assert kinds(assert_pass_keeps(graph, fuse_lookup)) == ["abs", "assign_state", "tanh"]


def test_a_table_is_in_the_order_of_bytes() -> None:
    sketch = Sketch()
    sketch.input("x", SHAPE, QUANT)
    sketch.op("clamp", ["x"], "y", ClampParams(0.0, 1.0))
    graph = sketch.graph(["y"])
    table = np.frombuffer(byte_table(graph, graph.ops, "x"), np.int8)
    assert (table[0], table[127], table[128], table[255]) == (3, 23, 3, 3)
    assert table[10] == 10


UNARY_STEPS = [
    *((kind, UnaryParams()) for kind in ("tanh", "abs", "neg", "logistic", "hard_swish", "exp")),
    ("leaky_relu", LeakyReluParams(0.3)), ("clamp", ClampParams(-0.5, 1.0)),
    ("requantize", QuantizeParams()),
]  # fmt: skip
QUANTIZATIONS = st.builds(
    lambda scale, zero: Quantization((scale,), (zero,)),
    st.sampled_from([0.01, 0.05, 1 / 256]), st.integers(-128, 127),
)  # fmt: skip


@st.composite
def random_graphs(draw: st.DrawFn) -> Graph:
    """Quantized elementwise operators over two inputs, numbers and a vector."""
    sketch = Sketch()
    names = [sketch.input("x", SHAPE, QUANT), sketch.input("w", SHAPE, OTHER)]
    number = sketch.constant("number", np.array(-40, np.int8), OTHER)
    vector = sketch.constant("vector", np.arange(8, dtype=np.int8), QUANT)
    for index in range(draw(st.integers(2, 10))):
        x, name = draw(st.sampled_from(names[-3:])), f"v{index}"
        quant = draw(QUANTIZATIONS)
        if draw(st.booleans()):
            kind, params = draw(st.sampled_from(UNARY_STEPS))
            sketch.op(kind, [x], name, params, quant=quant)
        else:
            other = draw(st.sampled_from([*names[-4:], number, number, vector]))
            kind = draw(st.sampled_from(["add", "sub", "mul", "maximum"]))
            arithmetic = BinaryParams() if kind == "maximum" else ArithmeticParams((-3.0, 4.0))
            sketch.op(kind, [x, other], name, arithmetic, quant=quant)
        names.append(name)
    kept = draw(st.lists(st.sampled_from(names[2:]), max_size=2, unique=True))
    graph = sketch.graph(list(dict.fromkeys([names[-1], *kept])))
    return graph.replace(numerics=draw(st.sampled_from(["tflite", "fast"])))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(random_graphs())
def test_random_graphs(graph: Graph) -> None:
    after = assert_pass_keeps(graph, fuse_lookup, runs=1)
    assert len(after.ops) <= len(graph.ops)
    assert _read(after.ops) <= _read(graph.ops)


def _read(ops: tuple[Op, ...]) -> int:
    return sum(len(set(op.inputs)) for op in ops)
