"""Operators that only move elements, and the view that does not even do that."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.graph import Shape
from compiler.registry import classify, params


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
