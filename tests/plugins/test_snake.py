"""The example of README.md: an operator of one's own, end to end, without touching the core."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

import compiler
from tests.support.tflite_builder import Builder

PLUGIN = Path(__file__).parent / "snake" / "snake.py"


def snake_model(folder: Path) -> Path:
    """One custom operator between two ordinary ones."""
    builder = Builder()
    x = builder.tensor("x", (1, 6), "float32")
    bent = builder.tensor("bent", (1, 6), "float32")
    y = builder.tensor("y", (1, 6), "float32")
    builder.custom("Snake", [x], [bent], struct.pack("<f", 2.5))
    builder.op("RELU", [bent], [y])
    path = folder / "snake.tflite"
    path.write_bytes(builder.build([x], [y]))
    return path


@pytest.mark.parametrize("board", ["host", "mps2-an386"])
@pytest.mark.parametrize("optimize", ["speed", "size"])
def test_on_a_board(board: str, optimize: str, tmp_path: Path) -> None:
    if board != "host" and shutil.which("qemu-system-arm") is None:
        pytest.skip("no qemu-system-arm")
    options = compiler.BuildOptions(plugins=(PLUGIN,), optimize=optimize)
    built = compiler.build(snake_model(tmp_path), board=board, out=tmp_path, options=options)
    assert built.manifest["steps"][0]["kernel"] == "snake_float32__reference"
    x = np.linspace(-3, 3, 6, dtype=np.float32)[None]
    found = compiler.run({"x": x}, board=board, out=tmp_path).outputs["y"]
    wanted = np.maximum(x + np.sin(2.5 * x) ** 2 / 2.5, 0)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    simulated = compiler.simulate(tmp_path / "snake.tflite", {"x": x}, options=options)
    np.testing.assert_allclose(simulated.outputs["y"], wanted, atol=1e-5)


def test_it_is_exported_with_its_source(tmp_path: Path) -> None:
    options = compiler.BuildOptions(plugins=(PLUGIN,))
    compiler.build(snake_model(tmp_path), board="host", out=tmp_path / "b", options=options)
    compiler.export(tmp_path / "b", format="single-file", out=tmp_path / "one")
    assert "snake_float32__reference" in (tmp_path / "one/kiln_single.c").read_text()
