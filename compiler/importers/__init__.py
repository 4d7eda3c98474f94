"""Reads a model file of any known format; the format is told by content, not by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from compiler.errors import ModelError
from compiler.files import read_bytes
from compiler.graph import Graph, Shape

#: Other kinds of file that people pass by mistake: how they begin, and what to do.
_MISTAKEN: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "is a zip (Keras, PyTorch or an archive); export or unzip it first"),
    (b"\x89HDF", "is an HDF5 file (Keras); convert it to .tflite or .onnx first"),
    (b"\x1f\x8b", "is compressed by gzip; decompress it first"),
    (b"version https://git-lfs", "is a Git LFS pointer; fetch the file itself with 'git lfs pull'"),
)


def read_model(path: Path, shapes: Mapping[str, Shape] | None = None) -> Graph:
    """The model in ``path``, a ``.tflite`` or ``.onnx`` file, as a graph.

    ``shapes`` binds inputs by name; otherwise a dynamic dimension is 1 in ``.tflite`` and an
    error in ``.onnx``. Raises UsageError if there is no such file or input, ModelError if it is no
    model or damaged, UnsupportedError with every node that cannot be read.
    """
    path = Path(path)
    data = read_bytes(path, "model")
    shapes = dict(shapes or {})
    if not data:
        raise ModelError(f"model '{path}': the file is empty; give a .tflite or .onnx file")
    if data[4:8] == b"TFL3":
        from compiler.importers.tflite import read_tflite

        return read_tflite(data, path, shapes)
    for start, advice in _MISTAKEN:
        if data.startswith(start):
            raise ModelError(f"model '{path}': {advice}")
    if _is_text(data):
        raise ModelError(f"model '{path}': is a text file, not a model; give .tflite or .onnx")
    if data[0] == 0x08 or path.suffix == ".onnx":  # field 1 of ONNX's ModelProto, ir_version
        from compiler.importers.onnx_model import read_onnx

        return read_onnx(path, shapes)
    raise ModelError(
        f"model '{path}': neither a .tflite (no 'TFL3' at byte 4) nor an .onnx file; it may be cut "
        f"or damaged: get it again"
    )


def _is_text(data: bytes) -> bool:
    head = data[:4096]
    return all(byte >= 32 or byte in b"\t\n\r\f" for byte in head) and head.isascii()
