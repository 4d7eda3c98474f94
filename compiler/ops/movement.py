"""Operators that only move elements, and the view that does not even do that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

from compiler.graph import DTYPE_BYTES, OpView, Shape, Tensor
from compiler.registry import Embedding, classify, embeddings, params


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


@params.of("resize_nearest", "resize_bilinear")
@dataclass(frozen=True)
class ResizeParams:
    """Input (N,H,W,C) to height and width ``output_hw``, with TFLite's two flags."""

    output_hw: tuple[int, int]
    align_corners: bool = False
    half_pixel_centers: bool = False


classify("reshape", "view")
for _kind in (
    "transpose", "pad", "slice", "concat", "split", "gather", "tile", "broadcast_to",
    "depth_to_space", "space_to_depth", "resize_nearest",
):  # fmt: skip
    classify(_kind, "movement")
classify("resize_bilinear", "complex")


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
