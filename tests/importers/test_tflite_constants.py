"""Constants that are packed: four bits per element, and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.errors import ModelError
from compiler.importers.tflite.constants import constant_data
from compiler.importers.tflite.schema import schema
from tests.support.tflite_builder import Builder
from tests.support.tflite_check import assert_same_as_litert, read

DENSE = np.array([[0, 0, 1, 2, 0, 0], [0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 4], [0, 0, 5, 6, 0, 0]])


def test_four_bits() -> None:
    """Two elements per byte, the lower half first, with sign."""
    raw = np.array([0x21, 0xF8, 0x07], np.uint8)
    data = constant_data("w", raw, "int4", (5,), None)
    assert data is not None and data.dtype == np.int8
    np.testing.assert_array_equal(data, [1, 2, -8, -1, 7])


@pytest.mark.parametrize(("dtype", "shape"), [("int4", (7,)), ("float32", (1,)), ("int8", (4,))])
def test_wrong_size(dtype: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match="'w': 3 bytes of data"):
        constant_data("w", np.zeros(3, np.uint8), dtype, shape, None)


def dense_level(size: int) -> Any:
    level = schema().DimensionMetadataT()
    level.format, level.denseSize = schema().DimensionType.DENSE, size
    return level


def sparse_level(segments: list[int], indices: list[int], kind: str = "Int32Vector") -> Any:
    s = schema()
    level = s.DimensionMetadataT()
    level.format = s.DimensionType.SPARSE_CSR
    for name, values in (("Segments", segments), ("Indices", indices)):
        vector = getattr(s, f"{kind}T")()
        vector.values = values
        setattr(level, f"array{name}Type", getattr(s.SparseIndexVector, kind))
        setattr(level, f"array{name}", vector)
    return level


def densify_model(values: list[float], order: list[int], blocks: list[int], *levels: Any) -> bytes:
    """x + DENSIFY(sparse constant of the shape of DENSE)."""
    model = Builder()
    x = model.tensor("x", DENSE.shape, "float32")
    w = model.tensor("w", DENSE.shape, "float32", data=np.array(values))
    sparsity = schema().SparsityParametersT()
    sparsity.traversalOrder, sparsity.blockMap = order, blocks
    sparsity.dimMetadata = list(levels)
    model.tensors[w].sparsity = sparsity
    dense = model.tensor("dense", DENSE.shape, "float32")
    y = model.tensor("y", DENSE.shape, "float32")
    model.op("DENSIFY", [w], [dense], "DensifyOptions")
    model.op("ADD", [x, dense], [y], "AddOptions")
    return model.build([x], [y])


def assert_dense(data: bytes) -> None:
    graph = assert_same_as_litert(data)
    assert [op.kind for op in graph.ops] == ["add"]
    np.testing.assert_array_equal(graph.tensors["dense"].data, DENSE)


@pytest.mark.parametrize("kind", ["Int32Vector", "Uint16Vector", "Uint8Vector"])
def test_sparse_rows(kind: str) -> None:
    assert_dense(
        densify_model(
            [1, 2, 3, 4, 5, 6], [0, 1], [], dense_level(4),
            sparse_level([0, 2, 2, 4, 6], [2, 3, 0, 5, 2, 3], kind),
        )
    )  # fmt: skip


def test_sparse_columns() -> None:
    """Traversed the other way round."""
    assert_dense(
        densify_model(
            [3, 1, 5, 2, 6, 4], [1, 0], [], dense_level(6),
            sparse_level([0, 1, 1, 3, 5, 5, 6], [2, 0, 3, 0, 3, 2]),
        )
    )  # fmt: skip


def test_sparse_blocks() -> None:
    """Blocks of 1 x 2: rows, block columns, then the columns of a block."""
    assert_dense(
        densify_model(
            [1, 2, 3, 0, 0, 4, 5, 6], [0, 1, 2], [1], dense_level(4),
            sparse_level([0, 1, 1, 3, 4], [1, 0, 2, 1]), dense_level(2),
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    "levels",
    [
        (dense_level(4), sparse_level([0, 2, 2, 4, 6], [2, 3, 0, 9, 2, 3])),
        (dense_level(4), sparse_level([0, 2, 2, 4, 6], [2, 3, 0, -1, 2, 3])),
        (dense_level(4), sparse_level([0, 2, 2, 4], [2, 3, 0, 5, 2, 3])),
        (dense_level(4), sparse_level([0, 9, 2, 4, 6], [2, 3, 0, 5, 2, 3])),
        (dense_level(2**31 - 1), dense_level(2**31 - 1)),
    ],
    ids=["index", "negative", "segments", "backwards", "huge"],
)
def test_damaged_sparse(levels: tuple[Any, ...]) -> None:
    with pytest.raises(ModelError):
        read(densify_model([1, 2, 3, 4, 5, 6], [0, 1], [], *levels))
