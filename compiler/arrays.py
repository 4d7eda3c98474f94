"""Between a user's ``.npz`` and the model's tensors: series of runs, quantized or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from compiler.errors import UsageError
from compiler.files import read_bytes, write_with
from compiler.graph import Shape
from compiler.numerics import quantize_array


@dataclass(frozen=True)
class TensorInfo:
    """An input or output as ``build.json`` describes it."""

    name: str
    shape: Shape
    dtype: str
    scale: float | None
    zero_point: int | None

    @staticmethod
    def of(entry: Mapping[str, object]) -> TensorInfo:
        return TensorInfo(
            name=str(entry["name"]),
            shape=tuple(entry["shape"]),  # type: ignore[arg-type]
            dtype=str(entry["dtype"]),
            scale=entry["scale"],  # type: ignore[arg-type]
            zero_point=entry["zero_point"],  # type: ignore[arg-type]
        )


Arrays = dict[str, np.ndarray]


def read_npz(path: Path, what: str = "input") -> Arrays:
    """All arrays of an ``.npz``. Raises UsageError where it is none."""
    read_bytes(path, what)
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("one array")
        with archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, BadZipFile, EOFError):
        raise UsageError(
            f"{what} '{path}': not an .npz of plain arrays; make one with numpy.savez"
        ) from None


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    write_with(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Series:
    """N runs' inputs, already of the model's dtypes; ``is_series`` keeps a leading axis."""

    runs: tuple[Arrays, ...]
    is_series: bool

    def __iter__(self) -> Iterator[Arrays]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)


def make_series(arrays: Mapping[str, np.ndarray], inputs: Sequence[TensorInfo]) -> Series:
    """Check names and shapes, convert, and cut into runs. Raises UsageError."""
    names = ", ".join(f"'{t.name}'" for t in inputs)
    missing = [t.name for t in inputs if t.name not in arrays]
    if missing and len(inputs) == 1 and len(arrays) == 1:
        arrays = {inputs[0].name: next(iter(arrays.values()))}
    elif missing:
        raise UsageError(f"input '{missing[0]}' is not in the .npz; the model's inputs are {names}")
    extra = [name for name in arrays if name not in {t.name for t in inputs}]
    if extra:
        raise UsageError(f"'{extra[0]}' is not an input of the model; its inputs are {names}")
    converted = {t.name: _convert(arrays[t.name], t) for t in inputs}
    is_series = any(converted[t.name].ndim > len(t.shape) for t in inputs)
    if not is_series:
        return Series((converted,), False)
    counts = {len(converted[t.name]) for t in inputs if converted[t.name].ndim > len(t.shape)}
    if len(counts) > 1:
        raise UsageError(f"inputs {names}: series of different lengths {sorted(counts)}")
    runs = tuple(
        {
            t.name: converted[t.name][i] if converted[t.name].ndim > len(t.shape)
            else converted[t.name]
            for t in inputs
        }
        for i in range(counts.pop())
    )  # fmt: skip
    return Series(runs, True)


def _convert(array: np.ndarray, tensor: TensorInfo) -> np.ndarray:
    rank = len(tensor.shape)
    if array.shape[max(array.ndim - rank, 0) :] != tensor.shape or array.ndim > rank + 1:
        raise UsageError(
            f"input '{tensor.name}': shape {list(array.shape)} is not the model's "
            f"{list(tensor.shape)}, nor a series of it"
        )
    wanted = np.dtype(tensor.dtype)
    if array.dtype == wanted:
        return array
    if array.dtype.kind == "f" and wanted.kind in "iu" and tensor.scale is not None:
        return quantize_array(array, tensor.scale, tensor.zero_point or 0, tensor.dtype)
    if wanted.kind == "f" and array.dtype.kind in "fiub":
        return array.astype(wanted)
    if wanted.kind in "iub" and array.dtype.kind in "iub":
        cast = array.astype(wanted)
        if np.array_equal(cast, array):
            return cast
        raise UsageError(
            f"input '{tensor.name}': {array.dtype} values do not fit the model's {tensor.dtype}; "
            f"give floats to have them quantized"
        )
    raise UsageError(f"input '{tensor.name}': {array.dtype} cannot become {tensor.dtype}")


def collect_outputs(
    runs: Sequence[Mapping[str, np.ndarray]], outputs: Sequence[TensorInfo], is_series: bool
) -> Arrays:
    """``NAME`` in the model's dtype and, where quantized, ``NAME.float``."""
    result: Arrays = {}
    for tensor in outputs:
        stacked = np.stack([run[tensor.name] for run in runs])
        value = stacked if is_series else stacked[0]
        result[tensor.name] = value
        if tensor.scale is not None and np.dtype(tensor.dtype).kind in "iu":
            integers = value.astype(np.int64) - (tensor.zero_point or 0)
            result[f"{tensor.name}.float"] = (integers * tensor.scale).astype(np.float32)
    return result


def random_inputs(inputs: Sequence[TensorInfo], count: int, seed: int = 0) -> Arrays:
    """A series of ``count`` runs: full-range integers, floats in [-1, 1)."""
    random = np.random.default_rng(seed)
    result: Arrays = {}
    for tensor in inputs:
        shape = (count, *tensor.shape)
        dtype = np.dtype(tensor.dtype)
        if dtype.kind == "f":
            result[tensor.name] = random.uniform(-1, 1, shape).astype(dtype)
        elif dtype.kind == "b":
            result[tensor.name] = random.integers(0, 2, shape).astype(dtype)
        elif dtype.itemsize <= 2:
            info = np.iinfo(dtype)
            result[tensor.name] = random.integers(info.min, info.max + 1, shape).astype(dtype)
        else:
            result[tensor.name] = random.integers(0, 2, shape).astype(dtype)
    return result
