"""Outputs that are inputs, constants, views or nobody's: a model's edges, on boards."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from compiler import api
from compiler.executor import make_runner
from compiler.operators.elementwise import UnaryParams
from tests.support.graphs import Sketch
from tests.support.tflite_builder import Builder

BATCH = 3


def odd_model() -> bytes:
    """A batch of 3; no output is just what an operator computes from all of the input."""
    b = Builder()
    x = b.tensor("x", (BATCH, 4), "float32")
    unused = b.tensor("unused", (2, 2), "int8", scale=0.5)
    constant = b.tensor("constant", (3,), "float32", data=np.arange(3))
    shared = b.tensor("shared", (1, 4), "float32", data=np.arange(4))
    shape = b.tensor("shape", (2,), "int32", data=np.array([2, 2]))
    reshaped = b.tensor("reshaped", (2, 2), "float32")
    b.op("RESHAPE", [shared, shape], [reshaped])
    total = b.tensor("total", (BATCH, 4), "float32")
    b.op("ADD", [x, shared], [total], "AddOptions")
    axis = b.tensor("axis", (), "int32", data=np.array(1))
    parts = [b.tensor(f"part{n}", (BATCH, 2), "float32") for n in range(2)]
    b.op("SPLIT", [axis, total], parts, "SplitOptions", numSplits=2)
    flat = b.tensor("flat", (BATCH * 4,), "float32")
    length = b.tensor("length", (1,), "int32", data=np.array([BATCH * 4]))
    b.op("RESHAPE", [x, length], [flat])
    return b.build([x, unused], [x, constant, shared, reshaped, parts[1], flat])


@pytest.mark.parametrize("board", ["host", "mps2-an386"])
def test_odd_outputs(board: str, tmp_path: Path) -> None:
    if board != "host" and shutil.which("qemu-system-arm") is None:
        pytest.skip(f"board {board} needs qemu-system-arm")
    path = tmp_path / "model.tflite"
    path.write_bytes(odd_model())
    api.build(path, board=board, out=tmp_path / "build")
    x = np.random.default_rng(1).normal(0, 1, (2, BATCH, 4)).astype(np.float32)
    inputs = {"x": x, "unused": np.zeros((2, 2), np.int8)}
    found = api.run(inputs, board=board, out=tmp_path / "build").outputs
    simulated = api.simulate(path, inputs).outputs
    wanted = {
        "x": x,
        "constant": np.broadcast_to(np.arange(3, dtype=np.float32), (2, 3)),
        "shared": np.broadcast_to(np.arange(4, dtype=np.float32), (2, 1, 4)),
        "reshaped": np.broadcast_to(np.arange(4, dtype=np.float32).reshape(2, 2), (2, 2, 2)),
        "part1": (x + np.arange(4, dtype=np.float32))[:, :, 2:],
        "flat": x.reshape(2, -1),
    }
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value)
        np.testing.assert_array_equal(simulated[name], value)


def test_a_model_that_only_copies(tmp_path: Path) -> None:
    """Without a single step."""
    b = Builder()
    x = b.tensor("x", (1, 4), "int8", scale=0.5)
    path = tmp_path / "model.tflite"
    path.write_bytes(b.build([x], [x]))
    built = api.build(path, board="host", out=tmp_path / "build")
    assert built.manifest["steps"] == []
    x_value = np.array([[1, -2, 3, 127]], np.int8)
    found = api.run({"x": x_value}, board="host", out=tmp_path / "build").outputs
    np.testing.assert_array_equal(found["x"], x_value)


def test_a_constant_output_of_a_graph_that_is_compiled_here() -> None:
    """As calibration and ``check`` run it."""
    sketch = Sketch()
    x = sketch.input("x", (2,))
    constant = sketch.constant("c", np.array([3.0, 4.0]))
    y = sketch.op("abs", [x], "y", UnaryParams())
    runner = make_runner(sketch.graph([constant, y]))
    if not runner.is_compiled:
        pytest.skip("there is no C compiler")
    result = runner.open().run({"x": np.array([-1, 2], np.float32)})
    assert result["c"].tolist() == [3, 4] and result["y"].tolist() == [1, 2]
