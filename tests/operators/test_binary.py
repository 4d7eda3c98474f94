"""Binary operators against LiteRT's reference kernels, broadcasting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.operators.litert import Case, Spec, compare, random_values
from tests.operators.specs import float32, like, random_spec

Shapes = tuple[tuple[int, ...], tuple[int, ...]]

SHAPES: list[Shapes] = [
    ((2, 5, 9), (2, 5, 9)), ((2, 5, 9), (9,)), ((1, 1), (4, 7)), ((3, 1, 2), (1, 4, 1)),
    ((2, 3), ()), ((1, 4), (5, 1)),
]  # fmt: skip
ARITHMETIC = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions"}


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name: str, dtype: str, shapes: Shapes, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for fused in (0, 1, 2, 3):
        a, b = (random_spec(rng, shape, dtype) for shape in shapes)
        y = random_spec(rng, np.broadcast_shapes(*shapes), dtype)
        fields = {"fusedActivationFunction": fused}
        compare(Case(name, [a, b], [y], ARITHMETIC[name], 3, fields), tmp_path, rng)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("name", ["MAXIMUM", "MINIMUM"])
def test_extremes(name: str, dtype: str, shapes: Shapes, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    a = random_spec(rng, shapes[0], dtype)
    b, y = like(a, shapes[1]), like(a, np.broadcast_shapes(*shapes))
    compare(Case(name, [a, b], [y], "MaximumMinimumOptions", 3), tmp_path, rng)


COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str, dtype: str, tmp_path: Path) -> None:
    """Also of scales so small that different integers count as equal."""
    rng = np.random.default_rng(3)
    for trial in range(10):
        shapes = SHAPES[trial % len(SHAPES)]
        a, b = (random_spec(rng, shape, dtype) for shape in shapes)
        if trial % 2 or dtype == "int16":
            b = like(a, b.shape)
        y = Spec(np.broadcast_shapes(*shapes), "bool")
        compare(Case(name, [a, b], [y]), tmp_path, rng)


def test_squared_difference(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for shapes in SHAPES:
        for _ in range(5):
            a, b = (random_spec(rng, shape, "int8") for shape in shapes)
            y = random_spec(rng, np.broadcast_shapes(*shapes), "int8")
            case = Case("SQUARED_DIFFERENCE", [a, b], [y], "SquaredDifferenceOptions", 2)
            compare(case, tmp_path, rng)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
def test_prelu(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    for slope_shape in ((4,), (1, 1, 4), (2, 5, 4), (1, 5, 1)):
        for _ in range(4):
            x, slope = (random_spec(rng, shape, dtype) for shape in ((2, 5, 4), slope_shape))
            y = random_spec(rng, (2, 5, 4), dtype)
            compare(Case("PRELU", [x, slope], [y]), tmp_path, rng)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
def test_division(dtype: str, tmp_path: Path) -> None:
    """Quotients large enough that LiteRT shifts by no more than 31, beyond which C is undefined."""
    rng = np.random.default_rng(6)
    for trial in range(8):
        shapes = SHAPES[trial % len(SHAPES)]
        a, b = (random_spec(rng, shape, dtype) for shape in shapes)
        y = random_spec(rng, np.broadcast_shapes(*shapes), dtype)
        divisor = random_values(rng, b.shape, dtype)
        divisor = np.where(divisor == b.zero_point, divisor + np.ones_like(divisor), divisor)
        if dtype != "float32":
            largest = 2.0 ** (8 if dtype != "int16" else 16)
            scale = float32(a.scale / b.scale / largest / rng.uniform(1, 4))
            y = Spec(y.shape, dtype, scale, y.zero_point)
        case = Case("DIV", [a, b], [y], "DivOptions", 2, {"fusedActivationFunction": trial % 4})
        compare(case, tmp_path, rng, [None, np.asarray(divisor).astype(dtype)])
