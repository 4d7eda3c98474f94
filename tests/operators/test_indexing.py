"""Reads at computed indices and their kin against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.errors import UnsupportedError
from compiler.importers import read_model
from tests.operators.litert import Case, Spec, compare
from tests.operators.specs import random_spec


def ints(*values: Any, dtype: str = "int32") -> Spec:
    data = np.array(values[0] if len(values) == 1 else values)
    return Spec(data.shape, dtype, data=data)


DTYPES = ("float32", "int8", "uint8", "int16", "int32")


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_with_batches(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = random_spec(rng, (2, 5, 3), dtype)
    y = Spec((2, 4, 3), dtype, x.scale, x.zero_point)
    indices = ints([[0, 4, 2, 2], [3, 1, 0, 4]])
    for batch in (1, -1):
        fields = {"axis": 1, "batchDims": batch}
        compare(Case("GATHER", [x, indices], [y], "GatherOptions", 5, fields), tmp_path, rng)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_nd(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x = random_spec(rng, (3, 4, 2), dtype)
    for depth, result in ((1, (5, 4, 2)), (2, (5, 2)), (3, (5,))):
        table = rng.integers(0, np.array(x.shape)[:depth], (5, depth))
        y = Spec(result, dtype, x.scale, x.zero_point)
        compare(Case("GATHER_ND", [x, ints(table)], [y], "GatherNdOptions", 4), tmp_path, rng)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int32"])
def test_top_k(dtype: str, tmp_path: Path) -> None:
    """Of equal elements the first comes first."""
    rng = np.random.default_rng(3)
    x = random_spec(rng, (3, 9), dtype)
    y = Spec((3, 4), dtype, x.scale, x.zero_point)
    case = Case("TOPK_V2", [x, ints(4)], [y, Spec((3, 4), "int32")], "TopKV2Options", 2)
    for _ in range(5):
        compare(case, tmp_path, rng, [rng.integers(0, 5, (3, 9)).astype(dtype)])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_cumsum(dtype: str, exclusive: bool, reverse: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for axis in (0, 1, -1):
        x = Spec((2, 5, 3), dtype)
        fields = {"exclusive": exclusive, "reverse": reverse}
        compare(Case("CUMSUM", [x, ints(axis)], [x], "CumsumOptions", 1, fields), tmp_path, rng)


@pytest.mark.parametrize("dtype", ["float32", "int8", "int32", "int64", "bool"])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis: int, dtype: str, tmp_path: Path) -> None:
    """Indices out of range have no position."""
    rng = np.random.default_rng(5)
    scale = {"scale": 0.5, "zero_point": 3} if dtype == "int8" else {}
    values = [Spec((), dtype, data=np.array(n), **scale) for n in (1, 0)]
    shape = [2, 3]
    shape.insert(axis % 3, 4)
    y = Spec(tuple(shape), dtype, **scale)
    x = Spec((2, 3), "int32")
    case = Case("ONE_HOT", [x, ints(4), *values], [y], "OneHotOptions", 1, {"axis": axis})
    compare(case, tmp_path, rng, [np.array([[0, 3, 4], [-1, 2, 1]], np.int32)])


def test_where_needs_a_constant(tmp_path: Path) -> None:
    """A constant condition folds; one that is computed has no static shape."""
    condition = Spec((2, 3), "bool", data=np.array([[1, 0, 1], [0, 0, 1]], bool))
    case = Case("WHERE", [condition], [Spec((3, 2), "int64")], None)
    path = tmp_path / "model.tflite"
    path.write_bytes(case.model())
    graph = read_model(path)
    np.testing.assert_array_equal(graph.tensors["out0"].data, [[0, 0], [0, 2], [1, 2]])
    path.write_bytes(Case("WHERE", [Spec((2, 3), "bool")], [Spec((3, 2), "int64")], None).model())
    with pytest.raises(UnsupportedError, match="not a constant"):
        read_model(path)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_scatter_nd(dtype: str, tmp_path: Path) -> None:
    """Updates of one place add up."""
    rng = np.random.default_rng(6)
    table = ints([[1], [3], [1]])
    case = Case("SCATTER_ND", [table, Spec((3, 4), dtype), ints([5, 4])], [Spec((5, 4), dtype)],
                "ScatterNdOptions")  # fmt: skip
    compare(case, tmp_path, rng)


def test_sparse_to_dense(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    values = Spec((2,), "float32", data=np.array([3.0, 4.0]))
    default = Spec((), "float32", data=np.array(-1.0))
    for places, shape in (([1, 3], [5]), ([[0, 2], [1, 1]], [2, 3])):
        case = Case("SPARSE_TO_DENSE", [ints(places), ints(shape), values, default],
                    [Spec(tuple(shape), "float32")], "SparseToDenseOptions")  # fmt: skip
        compare(case, tmp_path, rng)


@pytest.mark.parametrize("dtype", ["float32", "int8", "int32"])
@pytest.mark.parametrize("start", [(1, 0), (0, 1), (9, -3)])
def test_dynamic_update_slice(start: tuple[int, int], dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    whole = random_spec(rng, (4, 3), dtype)
    update = Spec((2, 2), dtype, whole.scale, whole.zero_point)
    case = Case("DYNAMIC_UPDATE_SLICE", [whole, update, ints(list(start))], [whole],
                "DynamicUpdateSliceOptions", 1)  # fmt: skip
    compare(case, tmp_path, rng)


def test_local_response_normalization(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    x = Spec((2, 3, 3, 9), "float32")
    for radius in (0, 2, 9):
        fields = {"radius": radius, "bias": 1.5, "alpha": 0.2, "beta": 0.75}
        case = Case("LOCAL_RESPONSE_NORMALIZATION", [x], [x], "LocalResponseNormalizationOptions",
                    1, fields)  # fmt: skip
        compare(case, tmp_path, rng)
