"""Operators that write at indices, and normalisation over neighbouring channels."""

from __future__ import annotations

import numpy as np

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import NO_CLAMP
from compiler.importers.tflite.node import Node, reads
from compiler.importers.tflite.operators.shapes import ELEMENT_LIMIT
from compiler.operators.convolution import Conv2dParams
from compiler.operators.elementwise import ArithmeticParams, BinaryParams, SelectParams, UnaryParams
from compiler.operators.indexing import ScatterNdParams
from compiler.operators.movement import PadParams


def _filled(node: Node, shape: tuple[int, ...], value: float) -> np.ndarray:
    if min(shape, default=0) < 0 or int(np.prod(shape, dtype=np.int64)) > ELEMENT_LIMIT:
        raise UnsupportedError(f"a result of shape {list(shape)} is not supported")
    return np.full(shape, value, node.outputs[0].dtype)


@reads("SCATTER_ND")
def scatter_nd(node: Node) -> None:
    """Updates of the same place are added; all else is 0."""
    indices, updates = node.input(0), node.input(1)
    if updates.quant is not None and any(updates.quant.zero_point):
        raise UnsupportedError("updates with a zero point are not supported")
    start = node.constant("zeros", _filled(node, node.integers(2, "shape"), 0), updates.quant)
    reduction = "none" if updates.quant is not None else "add"
    node.emit("scatter_nd", (start, indices, updates), ScatterNdParams(reduction))


@reads("SPARSE_TO_DENSE")
def sparse_to_dense(node: Node) -> None:
    """Values at constant indices, the default elsewhere."""
    indices, shape = node.array(0, "indices"), node.integers(1, "shape")
    values, default = node.input(2), float(node.array(3, "default").reshape(()))
    pairs = indices.reshape(-1, len(shape)) if indices.ndim < 2 else indices
    if pairs.shape[1] != len(shape):
        raise ModelError(f"indices {list(indices.shape)} do not fit shape {list(shape)}")
    start = node.constant("defaults", _filled(node, shape, default), values.quant)
    places = node.constant("places", pairs.astype(np.int32))
    if values.shape != (len(pairs),):
        raise UnsupportedError(f"{list(values.shape)} values for {len(pairs)} indices")
    node.emit("scatter_nd", (start, places, values), ScatterNdParams())


@reads("DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(node: Node) -> None:
    """The update where a mask says so; its place must be known, and is moved to be inside."""
    whole, update = node.input(0), node.input(1)
    begin = node.integers(2, "start")
    if not len(begin) == len(whole.shape) == len(update.shape):
        raise ModelError(f"start {list(begin)} does not fit {list(whole.shape)}")
    room = [a - b for a, b in zip(whole.shape, update.shape, strict=True)]
    if min(room, default=0) < 0:
        raise ModelError(f"{list(update.shape)} is larger than {list(whole.shape)}")
    before = tuple(min(max(b, 0), most) for b, most in zip(begin, room, strict=True))
    after = tuple(most - b for b, most in zip(before, room, strict=True))
    mask = np.pad(np.ones(update.shape, bool), list(zip(before, after, strict=True)))
    moved = node.inner("pad", (update,), PadParams(before, after))
    node.emit("select", (node.constant("mask", mask), moved, whole), SelectParams())


@reads("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(node: Node) -> None:
    """x / (bias + alpha * sum of squares of near channels)^beta.

    Those are ``radius`` before and, as TFLite computes it, ``radius - 1`` after. The sum is a
    convolution of 1 x 1 whose weights are a band.
    """
    options, x = node.options("LocalResponseNormalizationOptions"), node.input(0)
    if x.dtype != "float32" or len(x.shape) != 4:
        raise UnsupportedError("only a float image is supported")
    channels = x.shape[3]
    before = np.subtract.outer(np.arange(channels), np.arange(channels))
    is_near = (before <= options.Radius()) & (-before < options.Radius())
    band = np.where(is_near, options.Alpha(), 0).astype(np.float32)
    weights = node.constant("band", band.reshape(channels, 1, 1, channels))
    bias = node.constant("bias", np.full(channels, options.Bias(), np.float32))
    square = node.inner("square", (x,), UnaryParams())
    total = node.inner("conv2d", (square, weights, bias), Conv2dParams(clamp=NO_CLAMP))
    beta = node.constant("beta", np.array(-options.Beta(), np.float32))
    factor = node.inner("pow", (total, beta), BinaryParams())
    node.emit("mul", (x, factor), ArithmeticParams())
