"""Reads a PyTorch state dict (the format before 1.6, one stream of pickles) without PyTorch.

    magic | protocol version | system info     three small pickles
    state dict                                 a pickle whose tensors name storages
    storage keys                               a pickled list of strings
    per key: int64 element count, elements     little-endian

The unpickler admits an ordered dict and tensor rebuilds and nothing else, so an untrusted file
cannot run code. Source of the layout: torch/serialization.py, ``_legacy_save``.
"""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
STORAGE_DTYPES = {
    "FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "LongStorage": "<i8",
    "IntStorage": "<i4", "ShortStorage": "<i2", "CharStorage": "<i1", "ByteStorage": "<u1",
}  # fmt: skip


@dataclass(frozen=True)
class _StoredTensor:
    """A view of a storage: offset, shape and strides count elements."""

    storage: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class _StorageType:
    dtype: np.dtype[Any]


def _rebuild_tensor(
    storage: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_rest: object
) -> _StoredTensor:
    return _StoredTensor(storage, offset, shape, strides)


@dataclass
class _Storages:
    """What the state dict says about its storages: dtype and element count by key."""

    types: dict[str, tuple[np.dtype[Any], int]] = field(default_factory=dict)


class _StateDictUnpickler(pickle.Unpickler):
    def __init__(self, stream: BinaryIO, storages: _Storages) -> None:
        super().__init__(stream)
        self._storages = storages

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if module == "torch" and name in STORAGE_DTYPES:
            return _StorageType(np.dtype(STORAGE_DTYPES[name]))
        raise ValueError(
            f"checkpoint refers to '{module}.{name}', only tensors are admitted; save a state dict"
        )

    def persistent_load(self, pid: Any) -> str:
        _tag, storage_type, key, _location, elements, view = pid
        if view is not None:
            raise ValueError(f"storage '{key}' is a view of another; save a plain state dict")
        self._storages.types[key] = (storage_type.dtype, elements)
        return str(key)


def _read_storages(stream: BinaryIO, storages: _Storages) -> dict[str, np.ndarray]:
    arrays = {}
    for key in _StateDictUnpickler(stream, storages).load():
        dtype, elements = storages.types[key]
        (stored,) = struct.unpack("<q", stream.read(8))
        data = stream.read(elements * dtype.itemsize)
        if stored != elements or len(data) != elements * dtype.itemsize:
            raise ValueError(f"storage '{key}' is cut short; download the checkpoint again")
        arrays[key] = np.frombuffer(data, dtype)
    return arrays


def read_state_dict(path: Path) -> dict[str, np.ndarray]:
    """Name to array of every tensor, in the file's order.

    Raises ValueError if the file is not such a checkpoint, is cut short, or names anything but
    tensors.
    """
    storages = _Storages()
    with path.open("rb") as stream:
        if _StateDictUnpickler(stream, storages).load() != LEGACY_MAGIC:
            raise ValueError(f"{path}: not a PyTorch checkpoint of the format before 1.6")
        for _ in ("protocol version", "system info"):
            _StateDictUnpickler(stream, storages).load()
        state = _StateDictUnpickler(stream, storages).load()
        arrays = _read_storages(stream, storages)
    return {
        name: np.lib.stride_tricks.as_strided(
            arrays[tensor.storage][tensor.offset :],
            tensor.shape,
            [stride * arrays[tensor.storage].itemsize for stride in tensor.strides],
        ).copy()
        for name, tensor in state.items()
    }
