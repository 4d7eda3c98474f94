"""Activations spelled out in arithmetic are found in every spelling, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.operators.elementwise import ArithmeticParams, UnaryParams
from compiler.passes.recognise_activations import recognise_activations
from tests.support.graphs import QUANT, Sketch, assert_pass_keeps, kinds

TOLERANCE = 1e-6
PLAIN = ArithmeticParams()


def gate(clamp: tuple[float, float] = (0.0, 6.0), offset: float = 3.0) -> Sketch:
    sketch = Sketch()
    sketch.input("x", (4, 50))
    sketch.constant("three", np.float32(offset))
    sketch.constant("sixth", np.float32(1 / 6))
    sketch.constant("six", np.float32(6))
    sketch.op("add", ["x", "three"], "gate", ArithmeticParams(clamp=clamp))
    return sketch


@pytest.mark.parametrize(
    ("kind", "operands"),
    [("mul", ["gate", "sixth"]), ("mul", ["sixth", "gate"]), ("div", ["gate", "six"])],
)
def test_hard_sigmoid_and_swish(kind: str, operands: list[str]) -> None:
    sketch = gate()
    sketch.op(kind, operands, "y", PLAIN)
    after = assert_pass_keeps(sketch.graph(["y"]), recognise_activations, TOLERANCE)
    assert kinds(after) == ["hard_sigmoid"]
    sketch.op("mul", ["y", "x"], "z", PLAIN)
    after = assert_pass_keeps(sketch.graph(["z"]), recognise_activations, TOLERANCE)
    assert kinds(after) == ["hard_swish"]


@pytest.mark.parametrize("order", ["x gate", "gate x"])
def test_hard_swish_divided_last(order: str) -> None:
    sketch = gate()
    sketch.op("mul", order.split(), "product", PLAIN)
    sketch.op("mul", ["product", "sixth"], "y", PLAIN)
    after = assert_pass_keeps(sketch.graph(["y"]), recognise_activations, TOLERANCE)
    assert kinds(after) == ["hard_swish"]


def test_silu() -> None:
    sketch = Sketch()
    sketch.input("x", (4, 50))
    sketch.op("logistic", ["x"], "gate", UnaryParams())
    sketch.op("mul", ["x", "gate"], "y", PLAIN)
    after = assert_pass_keeps(sketch.graph(["y"]), recognise_activations, TOLERANCE)
    assert kinds(after) == ["silu"]
    after = assert_pass_keeps(sketch.graph(["y", "gate"]), recognise_activations, TOLERANCE)
    assert kinds(after) == ["logistic", "silu"]


@pytest.mark.parametrize(
    "sketch", [gate(clamp=(0.0, 5.0)), gate(offset=2.5)], ids=["limit", "offset"]
)
def test_other_gates_stay(sketch: Sketch) -> None:
    sketch.op("mul", ["gate", "sixth"], "y", PLAIN)
    after = assert_pass_keeps(sketch.graph(["y"]), recognise_activations)
    assert kinds(after) == ["add", "mul"]


def test_gate_of_another_value_stays() -> None:
    sketch = gate()
    sketch.input("other", (4, 50))
    sketch.op("mul", ["gate", "other"], "product", PLAIN)
    sketch.op("mul", ["product", "sixth"], "y", PLAIN)
    after = assert_pass_keeps(sketch.graph(["y"]), recognise_activations)
    assert kinds(after) == ["add", "mul", "mul"]


def test_quantized_stays() -> None:
    """Each quantized step rounds, so one operator would not give the same integers."""
    sketch = Sketch()
    sketch.input("x", (4, 50), QUANT)
    sketch.op("logistic", ["x"], "gate", UnaryParams())
    sketch.op("mul", ["x", "gate"], "y", PLAIN)
    after = assert_pass_keeps(sketch.graph(["y"]), recognise_activations)
    assert kinds(after) == ["logistic", "mul"]
