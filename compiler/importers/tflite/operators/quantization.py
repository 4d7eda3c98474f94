"""Between floats and integers, and between the forms in which a file keeps weights."""

from __future__ import annotations

from compiler.errors import UnsupportedError
from compiler.importers.tflite.node import Node, reads
from compiler.operators.elementwise import CastParams
from compiler.operators.movement import ReshapeParams
from compiler.operators.quantization import QuantizeParams


@reads("QUANTIZE")
def quantize(node: Node) -> None:
    if node.outputs[0].quant is None:
        raise UnsupportedError("its output has no scale")
    kind = "requantize" if node.input(0).quant is not None else "quantize"
    node.emit(kind, (node.input(0),), QuantizeParams())


@reads("DEQUANTIZE")
def dequantize(node: Node) -> None:
    if node.input(0).dtype == "float16":
        node.emit("cast", (node.input(0),), CastParams("float32"))
    elif node.input(0).quant is None:
        raise UnsupportedError("its input has no scale")
    else:
        node.emit("dequantize", (node.input(0),), QuantizeParams())


@reads("DENSIFY")
def densify(node: Node) -> None:
    """Sparse constants are dense as soon as the file is parsed."""
    node.emit("reshape", (node.input(0),), ReshapeParams(node.input(0).shape))
