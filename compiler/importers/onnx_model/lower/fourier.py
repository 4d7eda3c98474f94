"""DFT and STFT, as products with constant matrices."""

from __future__ import annotations

import numpy as np

from compiler.errors import UnsupportedError
from compiler.importers.onnx_model.node import Node, normal_axis, reads
from compiler.operators.matrix import FullyConnectedParams
from compiler.operators.movement import GatherParams, PadParams, SliceParams

LONGEST = 2048  # the matrix has its square of numbers


def _matrix(length: int, parts: int, inverse: bool, onesided: bool) -> np.ndarray:
    """(outputs * 2, length * parts): real and imaginary parts alternate on both sides."""
    outputs = length // 2 + 1 if onesided else length
    sign = 1 if inverse else -1
    angle = sign * 2 * np.pi * np.outer(np.arange(outputs), np.arange(length)) / length
    cosine, sine = np.cos(angle), np.sin(angle)
    matrix = np.zeros((outputs, 2, length, parts))
    matrix[:, 0, :, 0], matrix[:, 1, :, 0] = cosine, sine
    if parts == 2:
        matrix[:, 0, :, 1], matrix[:, 1, :, 1] = -sine, cosine
    if inverse:
        matrix /= length
    return matrix.reshape(outputs * 2, length * parts).astype(np.float32)


def _transformed(node: Node, x: str, inverse: bool, onesided: bool) -> str:
    """x (..., length, parts) to (..., outputs, 2)."""
    build = node.build
    *lead, length, parts = build.shape(x)
    if length > LONGEST:
        raise UnsupportedError(f"a transform of {length} values; at most {LONGEST}")
    if parts not in (1, 2):
        raise UnsupportedError(f"{parts} parts of a number; 1 and 2 are known")
    matrix = _matrix(length, parts, inverse, onesided)
    flat = build.reshape(x, (*lead, length * parts))
    params = FullyConnectedParams(keep_dims=True)
    y = build.emit("fully_connected", flat, build.constant(matrix, "transform"), params=params)
    return build.reshape(y, (*lead, matrix.shape[0] // 2, 2))


@reads("DFT")
def dft(node: Node) -> str:
    """The axis is an attribute before opset 20, an input since."""
    build, rank = node.build, node.rank()
    inverse, onesided = (bool(node.attribute(name, 0)) for name in ("inverse", "onesided"))
    if inverse and onesided:
        raise UnsupportedError("the inverse of a one-sided transform")
    default = 1 if node.opset < 20 else -2
    axis = (
        node.integers_at(2, "the axis")[0] if node.has(2) else int(node.attribute("axis", default))
    )
    axis = normal_axis(axis, rank)
    x = node.input()
    if node.has(1):
        x = _with_length(node, x, axis, node.integers_at(1, "the length")[0])
    order = [*(i for i in range(rank - 1) if i != axis), axis, rank - 1]
    y = _transformed(node, build.transpose(x, order), inverse, onesided)
    return build.transpose(y, [order.index(i) for i in range(rank)])


def _with_length(node: Node, x: str, axis: int, length: int) -> str:
    """Cut, or filled with zeros at the end."""
    shape = node.build.shape(x)
    zeros = (0,) * len(shape)
    wanted = tuple(length if i == axis else size for i, size in enumerate(shape))
    if length < shape[axis]:
        params = SliceParams(zeros, wanted, (1,) * len(shape))
        return node.build.emit("slice", x, params=params)
    if length == shape[axis]:
        return x
    after = tuple(length - shape[axis] if i == axis else 0 for i in range(len(shape)))
    return node.build.emit("pad", x, params=PadParams(zeros, after))


@reads("STFT")
def stft(node: Node) -> str:
    """Inputs signal (N, L, parts), step, window (n), length n; output (N, frames, n', 2)."""
    build = node.build
    step = node.integers_at(1, "the frames' step")[0]
    length = node.integers_at(3, "the frames' length")[0] if node.has(3) else node.shape(2)[0]
    batch, samples, parts = node.shape()
    count = (samples - length) // step + 1
    places = (np.arange(count)[:, None] * step + np.arange(length)).astype(np.int32)
    frames = build.emit("gather", node.input(), build.constant(places.reshape(-1), "frames"),
                        params=GatherParams(1))  # fmt: skip
    frames = build.reshape(frames, (batch, count, length, parts))
    if node.has(2):
        frames = build.emit("mul", frames, build.reshape(node.input(2), (length, 1)))
    return _transformed(node, frames, False, bool(node.attribute("onesided", 1)))
