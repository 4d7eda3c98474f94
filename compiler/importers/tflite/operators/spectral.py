"""Fourier transforms, and what becomes of complex numbers: pairs along one more axis."""

from __future__ import annotations

from compiler.errors import UnsupportedError
from compiler.importers.tflite.node import Node, reads
from compiler.operators.elementwise import UnaryParams
from compiler.operators.movement import ReshapeParams, SliceParams
from compiler.operators.reduction import ReduceParams
from compiler.operators.spectral import RfftParams


@reads("RFFT2D")
def rfft2d(node: Node) -> None:
    """Over the last axis; TFLite's other one has length 1 in audio."""
    height, width = node.integers(1, "FFT length")
    x = node.input(0)
    if height != 1 or len(x.shape) < 2 or x.shape[-2] != 1:
        raise UnsupportedError(f"a transform of {height} rows is not supported, of 1 it is")
    node.emit("rfft", (x,), RfftParams(width))


@reads("COMPLEX_ABS")
def complex_abs(node: Node) -> None:
    """The root of the sum of squares."""
    x = node.input(0)
    square = node.inner("square", (x,), UnaryParams())
    total = node.inner("sum", (square,), ReduceParams((len(x.shape) - 1,), False))
    node.emit("sqrt", (total,), UnaryParams())


@reads("REAL", "IMAG")
def part(node: Node) -> None:
    x = node.input(0)
    rank, index = len(x.shape), int(node.kind == "IMAG")
    params = SliceParams((*(0,) * (rank - 1), index), (*x.shape[:-1], 1), (1,) * rank)
    node.emit("reshape", (node.inner("slice", (x,), params),), ReshapeParams(x.shape[:-1]))
