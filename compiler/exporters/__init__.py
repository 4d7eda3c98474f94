"""Writes a quantized graph back as a model file, so that it can be run elsewhere.

``.tflite`` holds the same integer operators: LiteRT's reference kernels compute the same bytes as
numerics ``tflite``. ``.onnx`` holds float operators between QuantizeLinear and DequantizeLinear.
"""

from __future__ import annotations

from pathlib import Path

from compiler import files
from compiler.errors import UsageError
from compiler.graph import Graph

SUFFIXES = (".tflite", ".onnx")


def check_suffix(path: Path) -> None:
    """Raises UsageError unless the name's ending says a format."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--write-quantized '{path}': end it in {' or '.join(SUFFIXES)}")


def write_model(graph: Graph, path: Path) -> None:
    """Write ``graph`` in the format of the name's ending.

    Raises UsageError for another ending, UnsupportedError with every operator that the format
    cannot hold.
    """
    check_suffix(path)
    if path.suffix.lower() == ".tflite":
        from compiler.exporters.tflite_file import tflite_bytes

        files.write_bytes(path, tflite_bytes(graph))
    else:
        from compiler.exporters.qdq_file import qdq_bytes

        files.write_bytes(path, qdq_bytes(graph))
