"""Reads TFLite metadata: labels of the outputs, mean and standard deviation of image inputs.

The metadata is a flatbuffer of its own inside the model (file identifier M001); the files it
names, such as labels, are a zip at the end of the model file. Slots are numbered as in
metadata_schema.fbs of tflite-support, a union taking two:

    ModelMetadata      3 subgraph_metadata
    SubGraphMetadata   2 input_tensor_metadata   3 output_tensor_metadata
    TensorMetadata     4 process_units           6 associated_files
    ProcessUnit        0 options (type)          1 options (table)
    NormalizationOptions  0 mean                 1 std
    AssociatedFile     0 name                    2 type
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator

import flatbuffers.number_types as number_types
from flatbuffers.table import Table

from compiler.errors import ModelError
from compiler.graph import Graph, Preprocessing

NORMALIZATION_OPTIONS = 1
LABEL_FILE_TYPES = (2, 3)

LABELS_BYTES_LIMIT = 1 << 20
VECTOR_LIMIT = 4096


def read_metadata(graph: Graph, metadata: bytes, file: bytes) -> Graph:
    """The graph with ``labels`` and ``preprocessing`` where ``metadata`` has them.

    ``file`` is the whole model file. Raises ModelError if the metadata is damaged.
    """
    try:
        root = Table(metadata, _offset(metadata, 0))
        subgraph = next(_tables(root, 3), None)
        if subgraph is None:
            return graph
        return graph.replace(
            labels=_labels(subgraph, file), preprocessing=_preprocessing(subgraph, graph)
        )
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"model '{graph.name}': its metadata is damaged ({error}); write it again"
        ) from error


def _preprocessing(subgraph: Table, graph: Graph) -> dict[str, Preprocessing]:
    found: dict[str, Preprocessing] = {}
    for name, tensor in zip(graph.inputs, _tables(subgraph, 2), strict=False):
        for unit in _tables(tensor, 4):
            if _byte(unit, 0) != NORMALIZATION_OPTIONS:
                continue
            options = _table(unit, 1)
            mean, std = _floats(options, 0), _floats(options, 1)
            if mean and std:
                found[name] = Preprocessing(mean, _nonzero(std, name))
    return found


def _nonzero(std: tuple[float, ...], name: str) -> tuple[float, ...]:
    if 0.0 in std:
        raise ModelError(f"metadata of input '{name}': a standard deviation is 0; write it again")
    return std


def _labels(subgraph: Table, file: bytes) -> tuple[str, ...]:
    """Lines of the first label file that an output names."""
    for tensor in _tables(subgraph, 3):
        for associated in _tables(tensor, 6):
            if _byte(associated, 2) in LABEL_FILE_TYPES:
                return _read_lines(_text(associated, 0), file)
    return ()


def _read_lines(name: str, file: bytes) -> tuple[str, ...]:
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        if archive.getinfo(name).file_size > LABELS_BYTES_LIMIT:
            raise ModelError(f"label file '{name}' is larger than {LABELS_BYTES_LIMIT} bytes")
        text = archive.read(name).decode("utf-8")
    return tuple(line.strip() for line in text.strip().splitlines())


def _offset(data: bytes, position: int) -> int:
    return position + int.from_bytes(data[position : position + 4], "little")


def _field(table: Table, slot: int) -> int:
    """Position of a field, 0 where it is absent."""
    relative = table.Offset(4 + 2 * slot)
    return table.Pos + relative if relative else 0


def _byte(table: Table, slot: int) -> int:
    position = _field(table, slot)
    return int(table.Get(number_types.Uint8Flags, position)) if position else 0


def _table(table: Table, slot: int) -> Table:
    return Table(table.Bytes, table.Indirect(_field(table, slot)))


def _vector(table: Table, slot: int) -> range:
    """Positions of a vector's four-byte elements."""
    position = _field(table, slot)
    if not position:
        return range(0)
    start = table.Vector(position - table.Pos)
    count = table.VectorLen(position - table.Pos)
    if count > VECTOR_LIMIT:
        raise ValueError(f"{count} entries")
    return range(start, start + 4 * count, 4)


def _tables(table: Table, slot: int) -> Iterator[Table]:
    for position in _vector(table, slot):
        yield Table(table.Bytes, table.Indirect(position))


def _floats(table: Table, slot: int) -> tuple[float, ...]:
    values = tuple(
        float(table.Get(number_types.Float32Flags, position)) for position in _vector(table, slot)
    )
    if not all(map(math.isfinite, values)):
        raise ValueError("not finite")
    return values


def _text(table: Table, slot: int) -> str:
    return bytes(table.String(_field(table, slot))).decode("utf-8")
