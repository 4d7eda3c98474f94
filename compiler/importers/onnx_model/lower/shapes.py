"""What gives shapes and constants: known while reading, so it leaves no operator."""

from __future__ import annotations

import math

import numpy as np

from compiler.errors import UnsupportedError
from compiler.importers.onnx_model.node import Node, reads


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
def dropout(node: Node) -> str:
    """The identity, as it is for inference; the mask is not computed."""
    training = node.data(2)
    if node.has(2) and (training is None or bool(training)):
        raise UnsupportedError("training mode; export the model for inference")
    return node.input()
