"""Reductions, and the search for an extreme, against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.operators.litert import Case, Spec, compare, run_optimized
from tests.operators.specs import like, random_spec
from tests.support.tflite_builder import run_litert

SHAPE = (2, 5, 4, 3)
AXES = [(1, 2), (3,), (0, -1), (2,), (0, 1, 2, 3), (-3, 3)]


def reduce_case(
    rng: np.random.Generator, name: str, dtype: str, axes: tuple[int, ...], keep: bool, same: bool
) -> Case:
    gone = {axis % len(SHAPE) for axis in axes}
    shape = [1 if i in gone else n for i, n in enumerate(SHAPE) if keep or i not in gone]
    x = random_spec(rng, SHAPE, dtype)
    y = like(x, shape) if same else random_spec(rng, shape, dtype)
    indices = Spec((len(axes),), "int32", data=np.array(axes))
    return Case(name, [x, indices], [y], "ReducerOptions", 2, {"keepDims": keep})


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "int32", "int64"])
def test_mean(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for trial in range(24):
        axes, keep = AXES[trial % len(AXES)], trial % 2 == 0
        compare(reduce_case(rng, "MEAN", dtype, axes, keep, trial % 3 == 0), tmp_path, rng)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("name", ["REDUCE_MAX", "REDUCE_MIN"])
def test_extremes(name: str, dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    for axes in AXES:
        compare(reduce_case(rng, name, dtype, axes, True, True), tmp_path, rng)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int32"])
def test_sum(dtype: str, tmp_path: Path) -> None:
    """LiteRT's reference kernel reads int8 as uint8; its optimized one is meant as it is ours."""
    rng = np.random.default_rng(3)
    run = run_optimized if dtype == "int8" else run_litert
    for trial in range(12):
        case = reduce_case(rng, "SUM", dtype, AXES[trial % len(AXES)], trial % 2 == 0, False)
        compare(case, tmp_path, rng, run=run)


@pytest.mark.parametrize("dtype", ["float32", "int8", "int16"])
def test_product(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for axes in ((3,), (2,), (1, 3), (0,)):
        for _ in range(4):
            compare(reduce_case(rng, "REDUCE_PROD", dtype, axes, False, False), tmp_path, rng)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int32"])
@pytest.mark.parametrize("name", ["ARG_MAX", "ARG_MIN"])
def test_arg(name: str, dtype: str, tmp_path: Path) -> None:
    """The first of equal elements."""
    rng = np.random.default_rng(5)
    for axis in (0, 1, -1):
        x = random_spec(rng, (6, 70, 5), dtype)
        shape = [n for i, n in enumerate(x.shape) if i != axis % 3]
        values = np.asarray(rng.integers(0, 9, x.shape)).astype(dtype)
        inputs = [x, Spec((), "int32", data=np.array(axis))]
        options = "ArgMaxOptions" if name == "ARG_MAX" else "ArgMinOptions"
        for kind, code in (("int32", 2), ("int64", 4)):
            case = Case(name, inputs, [Spec(tuple(shape), kind)], options, 2, {"outputType": code})
            compare(case, tmp_path, rng, [values])
