"""Operators that change nothing go, whatever is an input or output."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compiler.graph import Graph, Quantization
from compiler.operators.elementwise import CastParams, ClampParams, UnaryParams
from compiler.operators.movement import (
    ConcatParams,
    PadParams,
    ReshapeParams,
    SliceParams,
    TileParams,
    TransposeParams,
)
from compiler.operators.quantization import QuantizeParams
from compiler.passes.remove_identity import remove_identity
from tests.support.graphs import QUANT, Sketch, assert_pass_keeps, kinds

IDENTITIES = {
    "reshape": ReshapeParams((2, 2)),
    "cast": CastParams("float32"),
    "pad": PadParams((0, 0), (0, 0)),
    "transpose": TransposeParams((0, 1)),
    "slice": SliceParams((0, 0), (2, 2), (1, 1)),
    "concat": ConcatParams(1),
    "tile": TileParams((1, 1)),
    "clamp": ClampParams(float("-inf"), float("inf")),
}
CHANGES = {
    "reshape": ReshapeParams((4, 1)),
    "transpose": TransposeParams((1, 0)),
    "slice": SliceParams((1, 0), (2, 2), (-1, 1)),
    "clamp": ClampParams(0.0, float("inf")),
    "pad": PadParams((0, 1), (0, 0)),
}


def sandwich(kind: str, params: object) -> Graph:
    sketch = Sketch()
    sketch.input("x", (2, 2))
    sketch.op("neg", ["x"], "a", UnaryParams())
    sketch.op(kind, ["a"], "b", params)
    sketch.op("neg", ["b"], "y", UnaryParams())
    return sketch.graph(["y"])


@pytest.mark.parametrize("kind", IDENTITIES)
def test_identity_goes(kind: str) -> None:
    after = assert_pass_keeps(sandwich(kind, IDENTITIES[kind]), remove_identity)
    assert kinds(after) == ["neg", "neg"]


@pytest.mark.parametrize("kind", CHANGES)
def test_change_stays(kind: str) -> None:
    after = assert_pass_keeps(sandwich(kind, CHANGES[kind]), remove_identity)
    assert kinds(after) == ["neg", kind, "neg"]


def test_output_gives_its_name_to_the_producer() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 2))
    sketch.op("neg", ["x"], "a", UnaryParams())
    sketch.op("reshape", ["a"], "b", ReshapeParams((2, 2)))
    sketch.op("reshape", ["b"], "y", ReshapeParams((2, 2)))
    sketch.op("abs", ["a"], "z", UnaryParams())
    after = assert_pass_keeps(sketch.graph(["y", "z"]), remove_identity)
    assert kinds(after) == ["neg", "abs"]


def test_two_outputs_of_one_value_keep_a_copy() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 2))
    sketch.op("neg", ["x"], "a", UnaryParams())
    sketch.op("reshape", ["a"], "y", ReshapeParams((2, 2)))
    sketch.op("reshape", ["a"], "z", ReshapeParams((2, 2)))
    after = assert_pass_keeps(sketch.graph(["y", "z"]), remove_identity)
    assert kinds(after) == ["neg", "reshape"]


def test_from_input_to_output_stays() -> None:
    sketch = Sketch()
    sketch.input("x", (2, 2))
    sketch.op("reshape", ["x"], "y", ReshapeParams((2, 2)))
    assert kinds(assert_pass_keeps(sketch.graph(["y"]), remove_identity)) == ["reshape"]


@pytest.mark.parametrize("second", [QUANT, replace(QUANT, zero_point=(4,))])
def test_dequantize_then_quantize(second: Quantization) -> None:
    sketch = Sketch()
    sketch.input("x", (4, 64), QUANT)
    sketch.op("neg", ["x"], "a", UnaryParams())
    sketch.op("dequantize", ["a"], "real", QuantizeParams(), dtype="float32", quant=None)
    sketch.op("quantize", ["real"], "b", QuantizeParams(), dtype="int8", quant=second)
    sketch.op("neg", ["b"], "y", UnaryParams())
    after = assert_pass_keeps(sketch.graph(["y"]), remove_identity)
    assert ("quantize" in kinds(after)) == (second != QUANT)


@pytest.mark.parametrize("zero_point", [131, 130])
def test_to_unsigned_and_back(zero_point: int) -> None:
    """Only with zero points 128 apart is no value lost."""
    sketch = Sketch()
    sketch.input("x", (4, 64), QUANT)
    sketch.op("requantize", ["x"], "u", QuantizeParams(), dtype="uint8",
              quant=Quantization(QUANT.scale, (zero_point,)))  # fmt: skip
    sketch.op("requantize", ["u"], "s", QuantizeParams(), dtype="int8", quant=QUANT)
    sketch.op("neg", ["s"], "y", UnaryParams())
    after = assert_pass_keeps(sketch.graph(["y"]), remove_identity)
    assert after.ops[-1].inputs == (("x",) if zero_point == 131 else ("s",))
