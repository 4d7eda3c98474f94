"""A ``.tflite`` file as plain values: every index checked, every constant of its right size.

The generated accessors trust the file, so a damaged one makes them raise nearly anything, or
walk tables that lie over each other. Here each table that is visited is counted against the
size of the file, and any surprise becomes one ModelError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from compiler.errors import KilnError, ModelError
from compiler.graph import Quantization, Shape
from compiler.importers.tflite.constants import constant_data
from compiler.importers.tflite.schema import names_of, schema

T = TypeVar("T")

#: What a tensor index of -1 means: an optional input that is absent.
ABSENT = -1


@dataclass(frozen=True, eq=False)
class FileTensor:
    """``signature`` is the shape with -1 where it is dynamic; ``data`` is set for constants."""

    name: str
    shape: Shape
    signature: Shape
    dtype: str
    quant: Quantization | None = None
    data: np.ndarray | None = None
    is_variable: bool = False


@dataclass(frozen=True, eq=False)
class FileOperator:
    """``kind`` is the builtin's name or the custom code; inputs may be ABSENT.

    ``dilation`` and ``padding`` are set where space-to-batch was folded into a convolution.
    ``intermediates`` are the scales inside an LSTM.
    """

    kind: str
    is_custom: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options_type: str = "NONE"
    table: Any = None
    custom_options: bytes = b""
    dilation: tuple[int, int] | None = None
    padding: tuple[int, int, int, int] | None = None
    intermediates: tuple[Quantization | None, ...] = ()


@dataclass(frozen=True, eq=False)
class FileSubgraph:
    name: str
    tensors: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ModelFile:
    """Subgraph 0 is the model; others belong to control flow."""

    subgraphs: tuple[FileSubgraph, ...]
    metadata: Mapping[str, bytes] = field(default_factory=dict)


def parse(data: bytes, path: Path) -> ModelFile:
    """The file's content. Raises ModelError, in bounded time, whatever the bytes are."""
    module = schema()
    try:
        return _Parser(data, module.Model.GetRootAs(data, 0)).model()
    except KilnError as error:
        raise type(error)(f"model '{path}': {error}") from error
    except Exception as error:
        raise ModelError(
            f"model '{path}': damaged or cut (its tables do not fit together); get the file again"
        ) from error


class _Parser:
    """One pass over the tables of one file."""

    def __init__(self, data: bytes, root: Any) -> None:
        self._data = data
        self._root = root
        # A table takes at least four bytes, so an honest file never has as many as it has bytes.
        self._budget = len(data)

    def model(self) -> ModelFile:
        root = self._root
        codes = self._each(root.OperatorCodesLength(), root.OperatorCodes, self._code)
        self._buffer_count = root.BuffersLength()
        if not root.SubgraphsLength():
            raise ModelError("the file has no graph; get it again")
        subgraphs = self._each(
            root.SubgraphsLength(), root.Subgraphs, lambda table: self._subgraph(table, codes)
        )
        metadata = self._each(
            root.MetadataLength(),
            root.Metadata,
            lambda table: (_text(table.Name()), self._buffer(table.Buffer()).tobytes()),
        )
        return ModelFile(subgraphs, dict(metadata))

    def _each(
        self, count: int, get: Callable[[int], Any], convert: Callable[[Any], T]
    ) -> tuple[T, ...]:
        self._budget -= count
        if self._budget < 0:
            raise ModelError("damaged (more tables than bytes); get the file again")
        return tuple(convert(get(index)) for index in range(count))

    def _code(self, table: Any) -> tuple[str, bool]:
        # Codes up to 126 stand in the old byte field, later ones in the new field.
        number = max(table.BuiltinCode(), table.DeprecatedBuiltinCode())
        name = names_of("BuiltinOperator").get(number, f"operator code {number}")
        if name == "CUSTOM":
            return _text(table.CustomCode()) or "(no name)", True
        return name, False

    def _buffer(self, index: int) -> np.ndarray:
        if not 0 <= index < self._buffer_count:
            raise ModelError(f"damaged (buffer {index} of {self._buffer_count}); get it again")
        table = self._root.Buffers(index)
        # Files over 2 GB keep their data behind the flatbuffer; older schemas do not know.
        offset = table.Offset() if hasattr(table, "Offset") else 0
        if offset > 1:
            if offset + table.Size() > len(self._data):
                raise ModelError("cut (data lies behind its end); get the file again")
            return np.frombuffer(self._data, np.uint8, table.Size(), offset)
        return table.DataAsNumpy() if table.DataLength() else np.empty(0, np.uint8)

    def _subgraph(self, table: Any, codes: tuple[tuple[str, bool], ...]) -> FileSubgraph:
        tensors = self._each(table.TensorsLength(), table.Tensors, self._tensor)
        operators = self._each(
            table.OperatorsLength(),
            table.Operators,
            lambda each: self._operator(each, codes, tensors),
        )
        return FileSubgraph(
            _text(table.Name()),
            _uniquely_named(tensors, (*_integers(table, "Inputs"), *_integers(table, "Outputs"))),
            operators,
            _indices(table, "Inputs", len(tensors), 0),
            _indices(table, "Outputs", len(tensors), 0),
        )

    def _operator(
        self, table: Any, codes: tuple[tuple[str, bool], ...], tensors: tuple[FileTensor, ...]
    ) -> FileOperator:
        kind, is_custom = codes[table.OpcodeIndex()]
        custom = table.CustomOptionsAsNumpy() if table.CustomOptionsLength() else b""
        return FileOperator(
            kind,
            is_custom,
            _indices(table, "Inputs", len(tensors), ABSENT),
            _indices(table, "Outputs", len(tensors), 0),
            names_of("BuiltinOptions").get(table.BuiltinOptionsType(), "unknown"),
            table.BuiltinOptions(),
            bytes(custom),
            intermediates=tuple(
                tensors[i].quant for i in _indices(table, "Intermediates", len(tensors), 0)
            ),
        )

    def _tensor(self, table: Any) -> FileTensor:
        name = _text(table.Name())
        shape = _integers(table, "Shape")
        dtype = names_of("TensorType").get(table.Type(), f"type {table.Type()}").lower()
        raw = self._buffer(table.Buffer())
        data = constant_data(name, raw, dtype, shape, table.Sparsity()) if raw.size else None
        dtype = "int8" if dtype == "int4" else dtype
        return FileTensor(
            name,
            shape,
            _integers(table, "ShapeSignature") or shape,
            dtype,
            _quantization(name, table.Quantization(), shape) if "int" in dtype else None,
            data,
            bool(table.IsVariable()),
        )


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _integers(table: Any, field_name: str) -> tuple[int, ...]:
    if getattr(table, f"{field_name}Length")() == 0:
        return ()
    return tuple(int(value) for value in getattr(table, f"{field_name}AsNumpy")())


def _indices(table: Any, field_name: str, count: int, least: int) -> tuple[int, ...]:
    indices = _integers(table, field_name)
    for index in indices:
        if not least <= index < count:
            raise ModelError(f"damaged (tensor {index} of {count}); get the file again")
    return indices


def _quantization(name: str, table: Any, shape: Shape) -> Quantization | None:
    """Scales and zero points; None where the file gives none (or all 0, as some old ones do)."""
    if table is None or not table.ScaleLength():
        return None
    with np.errstate(invalid="ignore"):
        scales = table.ScaleAsNumpy().astype(np.float64)
    if not scales.any():
        return None
    points = table.ZeroPointAsNumpy() if table.ZeroPointLength() else np.zeros(1, np.int64)
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise ModelError(f"tensor '{name}': a quantization scale is not positive; convert again")
    count, axis = scales.size, int(table.QuantizedDimension())
    if points.size not in (1, count):
        raise ModelError(f"tensor '{name}': {count} scales but {points.size} zero points")
    if count > 1 and not (0 <= axis < len(shape) and shape[axis] == count):
        raise ModelError(f"tensor '{name}': {count} scales do not fit axis {axis} of {shape}")
    zero_points = np.broadcast_to(points, count)
    return Quantization(
        tuple(scales.tolist()),
        tuple(int(point) for point in zero_points),
        axis if count > 1 else None,
    )


def _uniquely_named(
    tensors: tuple[FileTensor, ...], first: tuple[int, ...]
) -> tuple[FileTensor, ...]:
    """Names may be empty or repeat in a file; inputs and outputs keep theirs before others."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for index in dict.fromkeys((*first, *range(len(tensors)))):
        if not 0 <= index < len(tensors):
            continue
        stem = tensors[index].name or f"tensor_{index}"
        name = stem if stem not in taken else f"{stem}_{index}"
        while name in taken:
            name += "_"
        names[index] = name
        taken.add(name)
    return tuple(replace(tensor, name=names[i]) for i, tensor in enumerate(tensors))
