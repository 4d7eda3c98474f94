"""What gives shapes and constants: known while reading, so it leaves no operator."""

from __future__ import annotations

import math

import numpy as np

from compiler.errors import UnsupportedError
from compiler.importers.onnx_model.node import Node, reads
from compiler.operators.movement import GatherParams


@reads("Shape")
def shape(node: Node) -> str:
    rank = node.rank()
    begin, end = int(node.attribute("start", 0)), int(node.attribute("end", rank))
    return node.build.constant(np.asarray(node.shape()[begin:end], np.int64), "shape")


@reads("Size")
def size(node: Node) -> str:
    return node.build.constant(np.asarray(math.prod(node.shape()), np.int64), "size")


@reads("Identity")
def identity(node: Node) -> str:
    return node.input()


@reads("Dropout")
def dropout(node: Node) -> tuple[str, str]:
    """The identity, as it is for inference, and a mask that keeps everything."""
    trains = node.has(2) and bool(node.constant(2, "training mode").any())
    if trains and (not node.has(1) or node.constant(1, "the ratio").any()):
        raise UnsupportedError("training mode; export the model for inference")
    return node.input(), node.build.constant(np.ones(node.shape(), bool), "mask")


@reads("ConstantOfShape")
def constant_of_shape(node: Node) -> str:
    """Of a known shape it is folded, so here the shape is not known."""
    shape = node.integers_at(0, "the shape")
    return node.build.constant(np.zeros(shape, np.float32), "zeros")


@reads("NonZero", "Unique", "NonMaxSuppression")
def sized_by_values(node: Node) -> str:
    raise UnsupportedError("the size of its output depends on values; do it after the model")


@reads("Compress")
def compress(node: Node) -> str:
    """The elements that a constant condition keeps, of the flat tensor or along an axis."""
    build, x = node.build, node.input()
    kept = np.flatnonzero(node.constant(1, "the condition")).astype(np.int32)
    axis = node.axis(0) if node.given("axis") else 0
    if not node.given("axis"):
        x = build.reshape(x, (-1,))
    return build.emit("gather", x, build.constant(kept, "kept"), params=GatherParams(axis))
