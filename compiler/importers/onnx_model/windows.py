"""The window attributes that convolutions and poolings share: kernel, strides, pads, auto_pad.

Spatial sizes are pairs (height, width); a 1-D operator has height 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Shape
from compiler.importers.onnx_model.builder import Builder
from compiler.importers.onnx_model.node import Node

Pair = tuple[int, int]


@dataclass(frozen=True)
class Window:
    """``padding`` is (top, bottom, left, right)."""

    kernel: Pair
    stride: Pair
    dilation: Pair
    padding: tuple[int, int, int, int]

    @property
    def extent(self) -> Pair:
        """Size of the window with its dilation."""
        return extent(self.kernel, self.dilation)


def extent(kernel: Pair, dilation: Pair) -> Pair:
    return (
        (kernel[0] - 1) * dilation[0] + 1,
        (kernel[1] - 1) * dilation[1] + 1,
    )


def pair(values: list[int], what: str) -> Pair:
    """One or two spatial values as (height, width); the missing height is neutral (1)."""
    values = [int(value) for value in values]
    if len(values) not in (1, 2):
        raise UnsupportedError(f"{what} over {len(values)} spatial dimensions; 1 and 2 are known")
    return (1, values[0]) if len(values) == 1 else (values[0], values[1])


def spatial_pair(node: Node, name: str) -> Pair:
    """Attribute ``name``, ones where it is absent."""
    return pair(node.attribute(name, [1] * (node.rank() - 2)), name)


def read_window(node: Node, kernel: list[int], ceil_mode: bool = False) -> Window:
    """The window of a convolution or pooling; ``ceil_mode`` is paid for in end padding."""
    if node.rank() not in (3, 4):
        raise UnsupportedError(f"input with {node.rank()} dimensions; 3 and 4 are known")
    window, stride = pair(kernel, "kernel_shape"), spatial_pair(node, "strides")
    dilation = spatial_pair(node, "dilations")
    size = pair(list(node.shape()[2:]), "input")
    begin, end = padding_of(node, size, extent(window, dilation), stride)
    if ceil_mode:
        end = _with_ceil(size, begin, end, extent(window, dilation), stride)
    return Window(window, stride, dilation, (begin[0], end[0], begin[1], end[1]))


def padding_of(node: Node, size: Pair, reach: Pair, stride: Pair) -> tuple[Pair, Pair]:
    """(begin, end) padding from ``auto_pad`` or ``pads``."""
    auto = node.attribute("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        totals = [
            max((math.ceil(s / st) - 1) * st + r - s, 0)
            for s, st, r in zip(size, stride, reach, strict=True)
        ]
        return split_total(totals, upper=auto == "SAME_UPPER")
    if auto not in ("NOTSET", "VALID", ""):
        raise ModelError(f"auto_pad '{auto}' is not one that ONNX has")
    return given_pads(node, ignore=auto == "VALID")


def given_pads(node: Node, ignore: bool = False) -> tuple[Pair, Pair]:
    """The attribute ``pads``, zeros where it is absent."""
    rank = node.rank() - 2
    pads = [int(p) for p in node.attribute("pads", [0] * (2 * rank))]
    if ignore:
        pads = [0] * (2 * rank)
    if len(pads) != 2 * rank:
        raise ModelError(f"pads has {len(pads)} values for {rank} spatial dimensions")
    if min(pads, default=0) < 0:
        raise UnsupportedError("negative pads; slice the input instead")
    if rank == 1:
        return (0, pads[0]), (0, pads[1])
    return (pads[0], pads[1]), (pads[2], pads[3])


def split_total(totals: list[int], upper: bool) -> tuple[Pair, Pair]:
    """Total padding halved; the odd one goes to the end if ``upper``."""
    small, large = [t // 2 for t in totals], [t - t // 2 for t in totals]
    begin, end = (small, large) if upper else (large, small)
    return (begin[0], begin[1]), (end[0], end[1])


def _with_ceil(size: Pair, begin: Pair, end: Pair, reach: Pair, stride: Pair) -> Pair:
    """End padding that makes room for the last, partial window, if it starts inside."""
    result = []
    for s, b, e, r, st in zip(size, begin, end, reach, stride, strict=True):
        count = math.ceil((s + b + e - r) / st) + 1
        if (count - 1) * st >= s + b:
            count -= 1
        result.append(max((count - 1) * st + r - s - b, 0))
    return result[0], result[1]


def to_image(build: Builder, name: str) -> str:
    """(N, C, L) or (N, C, H, W) to (N, H, W, C), where H is 1 of a 1-D tensor."""
    name = build.channels_last(name)
    shape = build.shape(name)
    return build.reshape(name, (shape[0], 1, *shape[1:])) if len(shape) == 3 else name


def from_image(build: Builder, name: str, rank: int) -> str:
    """The way back of ``to_image``, to a tensor of ``rank`` dimensions."""
    shape: Shape = build.shape(name)
    if rank == 3:
        name = build.reshape(name, (shape[0], *shape[2:]))
    return build.channels_first(name)
