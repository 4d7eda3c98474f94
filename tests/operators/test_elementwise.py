"""Elementwise operators against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.operators.litert import Case, Spec, compare

#: Pairs that broadcast.
SHAPES = [
    ((2, 5, 3), (2, 5, 3)),
    ((2, 5, 3), (3,)),
    ((1, 1), (4, 7)),
    ((3, 1, 2), (1, 4, 1)),
    ((2, 3), ()),
]

#: name -> (options, fields, version, fixed output quantization, lowest zero point only)
UNARY_INT8: dict[str, tuple[str | None, dict[str, object], int, tuple[float, int] | None, bool]] = {
    "LOGISTIC": (None, {}, 2, (1 / 256, -128), False),
    "TANH": (None, {}, 2, (1 / 128, 0), False),
    "RELU": (None, {}, 2, None, False),
    "RELU6": (None, {}, 2, None, False),
    "RELU_N1_TO_1": (None, {}, 1, None, False),
    "GELU": ("GeluOptions", {}, 2, None, False),
    "EXP": ("ExpOptions", {}, 2, None, False),
    "LOG": (None, {}, 2, None, True),
    "LOG_SOFTMAX": (None, {}, 2, (16 / 256, 127), False),
    "SOFTMAX": ("SoftmaxOptions", {"beta": 1.0}, 2, (1 / 256, -128), False),
    "QUANTIZE": ("QuantizeOptions", {}, 2, None, False),
    "L2_NORMALIZATION": ("L2NormOptions", {}, 2, (1 / 128, 0), False),
}


@pytest.mark.parametrize("name", UNARY_INT8)
def test_unary_int8_over_all_values(name: str, tmp_path: Path) -> None:
    options, fields, version, fixed, lowest = UNARY_INT8[name]
    rng = np.random.default_rng(3)
    for _ in range(12):
        scale, zero = float(np.float32(10 ** rng.uniform(-3, -0.5))), int(rng.integers(-128, 128))
        out = float(np.float32(10 ** rng.uniform(-3, -0.5))), int(rng.integers(-128, 128))
        out_scale, out_zero = fixed or out
        source = Spec((4, 64), "int8", scale, -128 if lowest else zero)
        result = Spec((4, 64), "int8", out_scale, out_zero)
        case = Case(name, [source], [result], options, version, fields)
        compare(case, tmp_path, rng)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", ["ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_binary(
    name: str, dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], tmp_path: Path
) -> None:
    if name == "SQUARED_DIFFERENCE" and dtype == "uint8":
        pytest.skip("TFLite has no uint8 SQUARED_DIFFERENCE")
    rng = np.random.default_rng(5)
    info = np.iinfo(dtype) if dtype != "float32" else None
    options = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions"}.get(name)

    def spec(shape: tuple[int, ...]) -> Spec:
        if info is None:
            return Spec(shape, dtype)
        zero = int(rng.integers(info.min, info.max + 1))
        return Spec(shape, dtype, float(np.float32(10 ** rng.uniform(-2, -0.5))), zero)

    for activation in (0, 1, 3) if options else (0,):
        a, b, y = spec(shapes[0]), spec(shapes[1]), spec(np.broadcast_shapes(*shapes))
        if name in ("MAXIMUM", "MINIMUM"):
            b = Spec(b.shape, dtype, a.scale, a.zero_point)
            y = Spec(y.shape, dtype, a.scale, a.zero_point)
        fields = {"fusedActivationFunction": activation} if options else {}
        compare(Case(name, [a, b], [y], options, 2, fields), tmp_path, rng)
