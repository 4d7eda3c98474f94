"""Operators that only move elements, and the view that does not even do that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from compiler.graph import DTYPE_BYTES, OpView, Shape, Tensor
from compiler.numerics import (
    multiply_quantized,
    quantize_array,
    quantize_multiplier,
    round_half_away,
    saturate,
)
from compiler.registry import Embedding, classify, embeddings, params, reference, shape

Array = np.ndarray


@params.of("reshape")
@dataclass(frozen=True)
class ReshapeParams:
    """The same elements in another ``shape`` (static). SQUEEZE, EXPAND_DIMS, Flatten too."""

    shape: Shape


@params.of("transpose")
@dataclass(frozen=True)
class TransposeParams:
    """Output axis i is input axis ``permutation[i]``."""

    permutation: tuple[int, ...]


@params.of("pad")
@dataclass(frozen=True)
class PadParams:
    """``before`` and ``after`` per axis (>= 0).

    ``mode`` is "constant" (of real ``value``), "reflect", "symmetric" or "edge".
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    mode: str = "constant"
    value: float = 0.0


@params.of("slice")
@dataclass(frozen=True)
class SliceParams:
    """``size[i]`` elements along axis i from ``begin[i]`` on, in steps of ``stride[i]`` (!= 0)."""

    begin: tuple[int, ...]
    size: tuple[int, ...]
    stride: tuple[int, ...]


@params.of("concat")
@dataclass(frozen=True)
class ConcatParams:
    """Inputs joined along ``axis`` (non-negative); requantized where scales differ."""

    axis: int


@params.of("split")
@dataclass(frozen=True)
class SplitParams:
    """Input cut along ``axis`` into outputs of ``sizes``."""

    axis: int
    sizes: tuple[int, ...]


@params.of("gather")
@dataclass(frozen=True)
class GatherParams:
    """Inputs x and integer indices: elements along ``axis``; negative indices from the end."""

    axis: int


@params.of("tile")
@dataclass(frozen=True)
class TileParams:
    """Input repeated ``repeats[i]`` times along axis i."""

    repeats: tuple[int, ...]


@params.of("broadcast_to")
@dataclass(frozen=True)
class BroadcastToParams:
    """Input broadcast, as numpy does, to ``shape``."""

    shape: Shape


@params.of("depth_to_space", "space_to_depth")
@dataclass(frozen=True)
class BlockParams:
    """NHWC blocks of ``block`` x ``block``; ``mode`` "dcr" (TFLite) or "crd" (ONNX's other)."""

    block: int
    mode: str = "dcr"


classify("reshape", "view")
for _kind in (
    "transpose", "pad", "slice", "concat", "split", "gather", "tile", "broadcast_to",
    "depth_to_space", "space_to_depth",
):  # fmt: skip
    classify(_kind, "movement")


def _same_values(a: Tensor, b: Tensor) -> bool:
    return a.dtype == b.dtype and a.quant == b.quant


def _slabs(whole: Tensor, parts: list[Tensor], axis: int) -> list[Embedding]:
    """``parts`` follow each other in ``whole`` if nothing varies more slowly than ``axis``."""
    if math.prod(whole.shape[:axis]) != 1 or not all(_same_values(p, whole) for p in parts):
        return []
    offsets = accumulate((part.bytes for part in parts), initial=0)
    return [
        Embedding(p.name, whole.name, offset) for p, offset in zip(parts, offsets, strict=False)
    ]


@embeddings.of("reshape")
def _reshape_embeddings(view: OpView) -> list[Embedding]:
    return [Embedding(view.output().name, view.input(0).name, 0)]


@embeddings.of("concat")
def _concat_embeddings(view: OpView) -> list[Embedding]:
    parts = [t for t in view.inputs if t is not None]
    return _slabs(view.output(), parts, view.params.axis)


@embeddings.of("split")
def _split_embeddings(view: OpView) -> list[Embedding]:
    return _slabs(view.input(0), list(view.outputs), view.params.axis)


@embeddings.of("slice")
def _slice_embeddings(view: OpView) -> list[Embedding]:
    """One run of the input: one element of each outer axis, some of one, all of the inner."""
    whole, part, p = view.input(0), view.output(), view.params
    outer = next((i for i, size in enumerate(p.size) if size != 1), len(p.size))
    steps = zip(p.size, p.stride, strict=True)
    if not _same_values(whole, part) or any(n > 1 and step != 1 for n, step in steps):
        return []
    if p.size[outer + 1 :] != whole.shape[outer + 1 :]:
        return []
    strides = [math.prod(whole.shape[i + 1 :]) for i in range(len(whole.shape))]
    first = sum(begin * stride for begin, stride in zip(p.begin, strides, strict=True))
    return [Embedding(part.name, whole.name, first * DTYPE_BYTES[whole.dtype])]


def _keep(view: OpView, *shapes: Shape) -> list[tuple[Shape, str]]:
    return [(each, view.input(0).dtype) for each in shapes]


@shape.of("reshape")
def _reshape_shape(view: OpView) -> list[tuple[Shape, str]]:
    return _keep(view, view.params.shape)


@reference.of("reshape")
def _reshape(view: OpView, x: Array) -> Array:
    return x.reshape(view.params.shape)


@shape.of("transpose")
def _transpose_shape(view: OpView) -> list[tuple[Shape, str]]:
    return _keep(view, tuple(view.input(0).shape[axis] for axis in view.params.permutation))


@reference.of("transpose")
def _transpose(view: OpView, x: Array) -> Array:
    return x.transpose(view.params.permutation)


@shape.of("pad")
def _pad_shape(view: OpView) -> list[tuple[Shape, str]]:
    p = view.params
    sizes = zip(view.input(0).shape, p.before, p.after, strict=True)
    return _keep(view, tuple(size + before + after for size, before, after in sizes))


@reference.of("pad")
def _pad(view: OpView, x: Array) -> Array:
    p, output = view.params, view.output()
    widths = list(zip(p.before, p.after, strict=True))
    if p.mode != "constant":
        return np.pad(x, widths, mode=p.mode)
    return np.pad(x, widths, constant_values=pad_value(output, p.value))


def pad_value(tensor: Tensor, value: float) -> float | int:
    """What stands for real ``value`` in ``tensor``."""
    if tensor.quant is None:
        return value
    return int(quantize_array(np.array(value), tensor.scale, tensor.zero_point, tensor.dtype))


@shape.of("slice")
def _slice_shape(view: OpView) -> list[tuple[Shape, str]]:
    return _keep(view, view.params.size)


@reference.of("slice")
def _slice(view: OpView, x: Array) -> Array:
    for axis, (begin, size, stride) in enumerate(
        zip(view.params.begin, view.params.size, view.params.stride, strict=True)
    ):
        x = x.take(begin + stride * np.arange(size), axis=axis)
    return x


@shape.of("concat")
def _concat_shape(view: OpView) -> list[tuple[Shape, str]]:
    axis, result = view.params.axis, list(view.input(0).shape)
    result[axis] = sum(t.shape[axis] for t in view.inputs if t is not None)
    return _keep(view, tuple(result))


@reference.of("concat")
def _concat(view: OpView, *arrays: Array) -> Array:
    output = view.output()
    pieces = [
        rescaled(array, tensor, output)
        for array, tensor in zip(arrays, view.inputs, strict=True)
        if tensor is not None
    ]
    return np.concatenate(pieces, axis=view.params.axis)


def rescaled(values: Array, source: Tensor, output: Tensor) -> Array:
    """Integers of ``source`` as those of ``output``.

    uint8: in float32, as TFLite's concatenation does; it has no other type with two scales.
    """
    if source.quant == output.quant:
        return values
    if values.dtype == np.uint8:
        scale = np.float32(source.scale) * (np.float32(1) / np.float32(output.scale))
        offset = np.float32(-source.zero_point) * scale
        real = values.astype(np.float32) * scale + offset
        return saturate(round_half_away(real) + output.zero_point, output.dtype)
    multiplier = quantize_multiplier(source.scale / output.scale)
    value = multiply_quantized(values.astype(np.int64) - source.zero_point, *multiplier)
    return saturate(value + output.zero_point, output.dtype)


@shape.of("split")
def _split_shape(view: OpView) -> list[tuple[Shape, str]]:
    whole, axis = view.input(0).shape, view.params.axis
    return _keep(view, *((*whole[:axis], n, *whole[axis + 1 :]) for n in view.params.sizes))


@reference.of("split")
def _split(view: OpView, x: Array) -> tuple[Array, ...]:
    cuts = np.cumsum(view.params.sizes)[:-1]
    return tuple(np.split(x, cuts, axis=view.params.axis))


@shape.of("gather")
def _gather_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, axis = view.input(0).shape, view.params.axis
    return _keep(view, (*x[:axis], *view.input(1).shape, *x[axis + 1 :]))


@reference.of("gather")
def _gather(view: OpView, x: Array, indices: Array) -> Array:
    return x.take(indices, axis=view.params.axis)


@shape.of("tile")
def _tile_shape(view: OpView) -> list[tuple[Shape, str]]:
    pairs = zip(view.input(0).shape, view.params.repeats, strict=True)
    return _keep(view, tuple(size * repeat for size, repeat in pairs))


@reference.of("tile")
def _tile(view: OpView, x: Array) -> Array:
    return np.tile(x, view.params.repeats)


@shape.of("broadcast_to")
def _broadcast_shape(view: OpView) -> list[tuple[Shape, str]]:
    return _keep(view, view.params.shape)


@reference.of("broadcast_to")
def _broadcast_to(view: OpView, x: Array) -> Array:
    return np.broadcast_to(x, view.params.shape)


@shape.of("depth_to_space")
def _depth_to_space_shape(view: OpView) -> list[tuple[Shape, str]]:
    n, h, w, c = view.input(0).shape
    b = view.params.block
    return _keep(view, (n, h * b, w * b, c // (b * b)))


@reference.of("depth_to_space")
def _depth_to_space(view: OpView, x: Array) -> Array:
    n, h, w, c = x.shape
    b, depth = view.params.block, c // view.params.block**2
    if view.params.mode == "dcr":
        blocks = x.reshape(n, h, w, b, b, depth).transpose(0, 1, 3, 2, 4, 5)
    else:
        blocks = x.reshape(n, h, w, depth, b, b).transpose(0, 1, 4, 2, 5, 3)
    return blocks.reshape(n, h * b, w * b, depth)


@shape.of("space_to_depth")
def _space_to_depth_shape(view: OpView) -> list[tuple[Shape, str]]:
    n, h, w, c = view.input(0).shape
    b = view.params.block
    return _keep(view, (n, h // b, w // b, c * b * b))


@reference.of("space_to_depth")
def _space_to_depth(view: OpView, x: Array) -> Array:
    n, h, w, c = x.shape
    b = view.params.block
    blocks = x.reshape(n, h // b, b, w // b, b, c)
    order = (0, 1, 3, 2, 4, 5) if view.params.mode == "dcr" else (0, 1, 3, 5, 2, 4)
    return blocks.transpose(order).reshape(n, h // b, w // b, b * b * c)
