"""The bytes of a constant as an array: dense, sparse, or four bits per element."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import DTYPE_BYTES, Shape
from compiler.importers.tflite.schema import schema

#: A sparse constant may have this many elements per byte in the file (99.6 % zeros in int8).
EXPANSION_LIMIT = 256


def constant_data(
    name: str, raw: np.ndarray, dtype: str, shape: Shape, sparsity: Any
) -> np.ndarray | None:
    """The array of ``shape``; int4 comes as int8. None for strings and the like.

    Raises ModelError where the bytes do not fit the shape.
    """
    if any(size < 0 for size in shape):
        raise ModelError(f"tensor '{name}': a constant of shape {shape} cannot be; get it again")
    if sparsity is not None:
        return _dense(name, raw, dtype, shape, sparsity)
    if dtype == "int4":
        return _unpack_int4(name, raw, shape)
    if dtype not in DTYPE_BYTES:
        return None
    _require(name, raw.size, math.prod(shape) * DTYPE_BYTES[dtype])
    values: np.ndarray = np.ascontiguousarray(raw).view(dtype)
    return values.reshape(shape)


def _require(name: str, size: int, expected: int) -> None:
    if size != expected:
        raise ModelError(
            f"tensor '{name}': {size} bytes of data where its shape needs {expected}; the file is "
            f"damaged, get it again"
        )


def _unpack_int4(name: str, raw: np.ndarray, shape: Shape) -> np.ndarray:
    """Two elements per byte, the lower half first."""
    count = math.prod(shape)
    _require(name, raw.size, (count + 1) // 2)
    halves = np.stack([raw << 4, raw & 0xF0], axis=-1).reshape(-1)[:count]
    return (halves.view(np.int8) >> 4).reshape(shape)


@dataclass(frozen=True, eq=False)
class _Level:
    """One level of a sparse tensor: dense of a size, or compressed rows."""

    size: int
    segments: np.ndarray | None
    indices: np.ndarray | None


def _dense(name: str, raw: np.ndarray, dtype: str, shape: Shape, sparsity: Any) -> np.ndarray:
    """Expand TFLite's sparse format (schema.fbs, SparsityParameters).

    Levels are the tensor's axes in traversal order, then the axes of the blocks; the data holds
    the elements of the paths through all levels, in order.
    """
    if dtype not in DTYPE_BYTES:
        raise UnsupportedError(f"tensor '{name}': sparse {dtype} is not supported; densify it")
    rank = len(shape)
    order = _numbers(sparsity.TraversalOrderLength(), sparsity.TraversalOrder)
    block_axes = _numbers(sparsity.BlockMapLength(), sparsity.BlockMap)
    levels = tuple(_level(sparsity.DimMetadata(i)) for i in range(len(order)))
    if len(order) != rank + len(block_axes) or sorted(order) != list(range(len(order))):
        raise ModelError(f"tensor '{name}': its sparse format does not fit its shape {shape}")
    if math.prod(shape) > EXPANSION_LIMIT * max(raw.size, 1):
        raise ModelError(f"tensor '{name}': expands from {raw.size} bytes to shape {shape}")
    coordinates = _paths(levels, math.prod(shape))
    block = [1] * rank
    for position, axis in enumerate(block_axes):
        block[axis] = levels[order.index(rank + position)].size
    position_in = [np.zeros(coordinates.shape[1], np.int64) for _ in range(rank)]
    for level, axis in enumerate(order):
        target, factor = (axis, block[axis]) if axis < rank else (block_axes[axis - rank], 1)
        position_in[target] = position_in[target] + coordinates[level] * factor
    values = np.ascontiguousarray(raw).view(dtype)
    _require(name, values.size, coordinates.shape[1])
    if coordinates.size and coordinates.min() < 0:
        raise ModelError(f"tensor '{name}': a sparse index is negative; get the file again")
    result = np.zeros(shape, dtype)
    result[tuple(position_in)] = values
    return result


def _numbers(length: int, get: Any) -> list[int]:
    return [int(get(index)) for index in range(min(length, 16))]


def _level(table: Any) -> _Level:
    module = schema()
    if table.Format() == module.DimensionType.DENSE:
        return _Level(int(table.DenseSize()), None, None)
    return _Level(
        0,
        _index_vector(table.ArraySegmentsType(), table.ArraySegments()),
        _index_vector(table.ArrayIndicesType(), table.ArrayIndices()),
    )


def _index_vector(kind: int, table: Any) -> np.ndarray:
    module = schema()
    kinds = {
        module.SparseIndexVector.Int32Vector: module.Int32Vector,
        module.SparseIndexVector.Uint16Vector: module.Uint16Vector,
        module.SparseIndexVector.Uint8Vector: module.Uint8Vector,
    }
    vector = kinds[kind]()
    vector.Init(table.Bytes, table.Pos)
    return np.asarray(vector.ValuesAsNumpy(), np.int64).reshape(-1)


def _paths(levels: tuple[_Level, ...], limit: int) -> np.ndarray:
    """Coordinates (levels, elements) of the stored elements, in the order of the data.

    The columns are the paths down to the level reached, at most ``limit`` of them; the next
    level's segments count them in this order.
    """
    coordinates = np.zeros((0, 1), np.int64)
    for level in levels:
        count = coordinates.shape[1]
        if level.segments is None or level.indices is None:
            if not 0 <= count * level.size <= limit:
                raise ModelError("damaged (sparse sizes); get the file again")
            parents = np.repeat(np.arange(count), level.size)
            own = np.tile(np.arange(level.size), count)
        else:
            lengths = np.diff(level.segments)
            own = level.indices
            if lengths.size != count or (lengths < 0).any() or lengths.sum() != own.size:
                raise ModelError("damaged (sparse segments); get the file again")
            parents = np.repeat(np.arange(count), lengths)
        coordinates = np.concatenate([coordinates[:, parents], own[None]])
    return coordinates
