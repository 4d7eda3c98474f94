"""softmax, log_softmax and l2_normalization against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compiler.fixed_point import inverse_square_root, log_from_one
from tests.operators.litert import Case, compare, random_values
from tests.operators.specs import fixed_spec, float32, random_spec

#: name -> options, dtypes, the output's scale and zero point in int8
OPERATORS = {
    "SOFTMAX": ("SoftmaxOptions", ("float32", "int8", "uint8", "int16"), (1 / 256, -128)),
    "LOG_SOFTMAX": ("LogSoftmaxOptions", ("float32", "int8", "uint8"), (16 / 256, 127)),
    "L2_NORMALIZATION": ("L2NormOptions", ("float32", "int8", "uint8"), (1 / 128, 0)),
}


@pytest.mark.parametrize("depth", [1, 2, 10, 257])
@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name, row in OPERATORS.items() for dtype in row[1]]
)
def test_normalization(name: str, dtype: str, depth: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(depth)
    options, _, (scale, zero) = OPERATORS[name]
    for trial in range(12):
        x = random_spec(rng, (3, 2, depth), dtype)
        y = x
        if dtype != "float32":
            y = fixed_spec(x.shape, dtype, 1 / 128 if dtype == "int16" else scale, zero)
        fields = {"beta": float32(rng.uniform(0.2, 2))} if name == "SOFTMAX" else {}
        values = random_values(rng, x.shape, dtype)
        if trial % 4 == 3:  # rows that are all alike
            values = np.broadcast_to(values[..., :1], values.shape).copy()
        compare(Case(name, [x], [y], options, 2, fields), tmp_path, rng, [values])


def test_inverse_square_root_is_one() -> None:
    for value in (1, 2, 3, 4, 100, 12345, 2**20 + 1, 2**29, 2**31 - 1):
        mantissa, shift = inverse_square_root(value)
        assert mantissa * 2.0 ** (shift - 31) == pytest.approx(value**-0.5, rel=2e-6)


def test_log_is_one() -> None:
    value = np.array([1.0, 1.0625, 1.4, 1.5, 2.0, 2.5, 31.0, 255.9, 4095.0])
    raw = np.rint(value * 2**19).astype(np.int64)  # 12 integer bits
    found = log_from_one(raw, 12, 5) / 2**26
    np.testing.assert_allclose(found, np.log(raw / 2**19), atol=1e-6)
