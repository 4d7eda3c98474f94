"""Conversions between real numbers and integers against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.operators.litert import Case, Spec, compare, every_value
from tests.operators.specs import QUANTIZED, random_spec


@pytest.mark.parametrize("dtype", QUANTIZED)
def test_quantize(dtype: str, tmp_path: Path) -> None:
    """Halves, which go away from zero, whatever the zero point, and values beyond the range."""
    rng = np.random.default_rng(1)
    for trial in range(12):
        y = random_spec(rng, (600,), dtype)
        steps = np.arange(-300, 300) * (100 if dtype == "int16" else 1) + 0.5
        exact = Spec(y.shape, dtype, 2.0 ** -(trial + 3), y.zero_point)
        for output, scale in ((exact, exact.scale), (y, y.scale)):
            values = (steps * scale).astype(np.float32)
            case = Case("QUANTIZE", [Spec(y.shape, "float32")], [output], "QuantizeOptions", 2)
            compare(case, tmp_path, rng, [values])


@pytest.mark.parametrize(
    ("source", "target"),
    [("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"), ("uint8", "uint8"), ("int8", "int16"),
     ("int16", "int8"), ("int16", "int16")],
)  # fmt: skip
def test_requantize(source: str, target: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    values = every_value(source)
    for _ in range(12):
        x, y = random_spec(rng, values.shape, source), random_spec(rng, values.shape, target)
        compare(Case("QUANTIZE", [x], [y], "QuantizeOptions", 2), tmp_path, rng, [values])


@pytest.mark.parametrize("dtype", QUANTIZED)
def test_dequantize(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = every_value(dtype)
    for _ in range(6):
        x, y = random_spec(rng, values.shape, dtype), Spec(values.shape, "float32")
        compare(Case("DEQUANTIZE", [x], [y], "DequantizeOptions", 3), tmp_path, rng, [values])
