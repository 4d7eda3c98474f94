"""Tables and chains on boards: what LiteRT computes operator by operator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compiler import api
from compiler.arrays import random_inputs
from compiler.options import BuildOptions
from tests.end_to_end.test_exact import need
from tests.support.tflite_builder import Builder, run_litert

SHAPE = (1, 7, 5, 6)


def model() -> bytes:
    """int8: leaky_relu, tanh, abs. float32: hard_swish * 1.5 + a vector, less x; then a product."""
    b = Builder()
    q = b.tensor("q", SHAPE, "int8", scale=0.04, zero_point=9)
    leaky = b.tensor("leaky", SHAPE, "int8", scale=0.04, zero_point=9)
    b.op("LEAKY_RELU", [q], [leaky], "LeakyReluOptions", alpha=0.3)
    bent = b.tensor("bent", SHAPE, "int8", scale=1 / 128)
    b.op("TANH", [leaky], [bent])
    size = b.tensor("size", SHAPE, "int8", scale=1 / 128)
    b.op("ABS", [bent], [size])
    x = b.tensor("x", SHAPE, "float32")
    values = [b.tensor(f"v{i}", SHAPE, "float32") for i in range(5)]
    factor = b.tensor("factor", (1,), "float32", data=np.array([1.5]))
    offset = b.tensor("offset", (6,), "float32", data=np.arange(6))
    gate = b.tensor("gate", (1, 1, 1, 6), "float32")
    b.op("HARD_SWISH", [x], [values[0]])
    b.op("MUL", [values[0], factor], [values[1]], "MulOptions")
    b.op("ADD", [values[1], offset], [values[2]], "AddOptions")
    b.op("SUB", [values[2], x], [values[3]], "SubOptions")
    b.op("MUL", [values[3], gate], [values[4]], "MulOptions")
    return b.build([q, x, gate], [size, values[4]])


@pytest.mark.parametrize(
    ("board", "optimize"), [("host", "speed"), ("host", "size"), ("mps2-an386", "speed")]
)
def test_fused_operators(board: str, optimize: str, tmp_path: Path) -> None:
    need(board)
    path = tmp_path / "model.tflite"
    path.write_bytes(model())
    options = BuildOptions(optimize=optimize)
    built = api.build(path, board=board, out=tmp_path / "build", options=options)
    operators = [step["operator"] for step in built.manifest["steps"]]
    assert sorted(operators) == ["elementwise_chain", "lookup"]
    inputs = random_inputs(built.inputs, 2, seed=3)
    found = api.run(inputs, board=board, out=tmp_path / "build").outputs
    for run in range(2):
        one = {tensor.name: inputs[tensor.name][run] for tensor in built.inputs}
        table, chain = run_litert(model(), one)
        np.testing.assert_array_equal(found["size"][run], table)
        np.testing.assert_allclose(found["v4"][run], chain, rtol=1e-5, atol=1e-5)
