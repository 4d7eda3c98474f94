"""Arithmetic on shapes and other values that are known as soon as shapes are."""

from __future__ import annotations

import numpy as np

from compiler.errors import UnsupportedError
from compiler.importers.tflite.node import Node, reads

#: A file may not ask for a constant with more elements than this.
ELEMENT_LIMIT = 2**24


@reads("SHAPE")
def shape(node: Node) -> None:
    """Shapes are static, so this is a constant."""
    node.result(np.asarray(node.input(0).shape))


@reads("RANK")
def rank(node: Node) -> None:
    node.result(np.asarray(len(node.input(0).shape)))


@reads("FILL")
def fill(node: Node) -> None:
    dims, value = node.integers(0, "shape"), node.array(1, "value")
    if int(np.prod(dims, dtype=np.int64)) > ELEMENT_LIMIT:
        raise UnsupportedError(f"a constant of shape {dims} is too large")
    node.result(np.full(dims, value.reshape(())))


@reads("ZEROS_LIKE")
def zeros_like(node: Node) -> None:
    node.result(np.zeros(node.input(0).shape))


@reads("RANGE")
def number_range(node: Node) -> None:
    start, limit, delta = (node.array(i, "bound").item() for i in range(3))
    if delta == 0 or abs((limit - start) / delta) > ELEMENT_LIMIT:
        raise UnsupportedError(f"a range from {start} to {limit} by {delta} is too long")
    node.result(np.arange(start, limit, delta))
