"""Float models on boards: within 1e-4 of the range of what LiteRT computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compiler import api
from compiler.arrays import random_inputs
from tests.end_to_end.test_exact import need
from tests.support.tflite_builder import run_litert
from tests.support.zoo_models import zoo_model

TOLERANCE = 1e-4  # of the output's range


@pytest.mark.parametrize(
    ("name", "board"),
    [
        ("rps_f32.tflite", "host"),
        ("rps_f32.tflite", "mps2-an500"),
        ("kws_onoff_f32.tflite", "rpi4"),
        ("hand_recrop_f32.tflite", "host"),
        pytest.param("blazeface_short_f16.tflite", "rpi4", marks=pytest.mark.slow),
        pytest.param("face_landmark_f16.tflite", "host", marks=pytest.mark.slow),
        pytest.param("hand_landmark_lite_f16.tflite", "host", marks=pytest.mark.slow),
    ],
)
def test_outputs_are_within_tolerance(name: str, board: str, tmp_path: Path) -> None:
    need(board)
    model = zoo_model(name)
    built = api.build(model, board=board, out=tmp_path)
    inputs = {key: np.abs(value) for key, value in random_inputs(built.inputs, 2).items()}
    found = api.run(inputs, board=board, out=tmp_path).outputs
    for run in range(2):
        one = {tensor.name: inputs[tensor.name][run] for tensor in built.inputs}
        wanted = run_litert(model.read_bytes(), one)
        for tensor, expected in zip(built.outputs, wanted, strict=True):
            bound = TOLERANCE * float(np.ptp(expected) or 1)
            np.testing.assert_allclose(found[tensor.name][run], expected, rtol=0, atol=bound)
