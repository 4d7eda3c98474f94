"""Recurrent layers on boards: states of variable tensors, in place, over a series."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from compiler import api
from tests.operators.test_recurrent import litert_runs, lstm_model, svdf_model


@pytest.mark.parametrize("board", ["host", "mps2-an386"])
@pytest.mark.parametrize("kind", ["lstm", "svdf"])
def test_int8_series(kind: str, board: str, tmp_path: Path) -> None:
    if board != "host" and shutil.which("qemu-system-arm") is None:
        pytest.skip(f"board {board} needs qemu-system-arm")
    rng = np.random.default_rng(7)
    if kind == "lstm":
        data, _ = lstm_model(rng, "int8")
    else:
        data = svdf_model(rng, "int8", bias=True, activation=1)
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    built = api.build(path, board=board, out=tmp_path / "build")
    (x,) = built.inputs
    series = rng.integers(-128, 128, (6, *x.shape)).astype(np.int8)
    wanted = litert_runs(data, series)
    for _ in range(2):
        outputs = api.run({x.name: series}, board=board, out=tmp_path / "build").outputs
        found = outputs[built.outputs[0].name]
        np.testing.assert_array_equal(found, np.stack(wanted))
