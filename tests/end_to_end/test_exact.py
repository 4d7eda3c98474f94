"""Model file in, board out: the bytes that LiteRT's reference kernels compute, on every board."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from compiler import api
from compiler.arrays import random_inputs
from compiler.options import BuildOptions
from tests.support.tflite_builder import run_litert
from tests.support.zoo_models import zoo_model

MODELS = (
    "ic_resnet8_int8.tflite",
    "kws_dscnn_int8.tflite",
    "vww_mobilenetv1_025_int8.tflite",
    "ad_autoencoder_int8.tflite",
)
#: Board and the programs that it takes to build and run it here.
BOARDS = {
    "host": (),
    "rpi4": ("qemu-aarch64",),
    "rpi5": ("qemu-aarch64",),
    "mps2-an386": ("qemu-system-arm",),
    "mps2-an500": ("qemu-system-arm",),
}
#: Arena of the model with --io int8: its live tensors (shared/research; scratch comes on top).
ARENA_BYTES = {
    "ic_resnet8_int8.tflite": 49152,
    "kws_dscnn_int8.tflite": 16000,
    "vww_mobilenetv1_025_int8.tflite": 55296,
    "ad_autoencoder_int8.tflite": 768,
}


def need(board: str) -> None:
    missing = [program for program in BOARDS[board] if shutil.which(program) is None]
    if missing:
        pytest.skip(f"board {board} needs {missing[0]}")


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("name", MODELS)
def test_bytes_equal_litert_and_simulator(name: str, board: str, tmp_path: Path) -> None:
    need(board)
    model = zoo_model(name)
    built = api.build(model, board=board, out=tmp_path)
    inputs = random_inputs(built.inputs, 3, seed=11)
    found = api.run(inputs, board=board, out=tmp_path).outputs
    simulated = api.simulate(model, inputs).outputs
    for run in range(3):
        one = {tensor.name: inputs[tensor.name][run] for tensor in built.inputs}
        wanted = run_litert(model.read_bytes(), one)
        for tensor, expected in zip(built.outputs, wanted, strict=True):
            np.testing.assert_array_equal(found[tensor.name][run], expected)
    for key, value in simulated.items():
        np.testing.assert_array_equal(found[key], value)


@pytest.mark.parametrize("board", ("host", "mps2-an386"))
@pytest.mark.parametrize("name", MODELS[:2])
def test_fast_numerics_equal_the_simulator(name: str, board: str, tmp_path: Path) -> None:
    need(board)
    options = BuildOptions(numerics="fast")
    built = api.build(zoo_model(name), board=board, out=tmp_path, options=options)
    inputs = random_inputs(built.inputs, 3, seed=12)
    found = api.run(inputs, board=board, out=tmp_path).outputs
    simulated = api.simulate(zoo_model(name), inputs, options=options).outputs
    for key, value in simulated.items():
        np.testing.assert_array_equal(found[key], value)


@pytest.mark.parametrize("name", MODELS)
def test_arena_is_the_lower_bound(name: str, tmp_path: Path) -> None:
    need("mps2-an386")
    options = BuildOptions(io="int8")
    built = api.build(zoo_model(name), board="mps2-an386", out=tmp_path, options=options)
    manifest = built.manifest
    scratch = manifest["scratch_bytes"]
    assert manifest["arena_bytes"] == manifest["arena_lower_bound_bytes"]
    assert manifest["arena_bytes"] - scratch <= ARENA_BYTES[name] <= manifest["arena_bytes"]


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    names = ("model.blob", "model_kernels.c", "kiln_model.h", "build.json")
    for folder in ("a", "deeper/b"):
        built = api.build(None, board="host", out=tmp_path / folder)
    for name in (*names, str(built.manifest["image"])):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "deeper/b" / name).read_bytes()
