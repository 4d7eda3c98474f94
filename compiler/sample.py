"""The sample that ships: a digit classifier, with inputs to calibrate it by."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "samples"


def sample_model() -> Path:
    """A small float32 network for 28x28 grey digits; trained by scripts/train_sample.py."""
    return _FOLDER / "digits.onnx"


def sample_calibration() -> Path:
    """A series of its inputs, as an ``.npz``."""
    return _FOLDER / "digits_calibration.npz"
