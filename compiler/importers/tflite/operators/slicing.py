"""Slices, with the masks of TFLite's strided slice resolved to plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Shape
from compiler.importers.tflite.node import Node, reads
from compiler.operators.movement import ReshapeParams, SliceParams


@dataclass(frozen=True)
class Masks:
    """Bit i concerns entry i of begin, end and strides."""

    begin: int = 0
    end: int = 0
    ellipsis: int = 0
    new_axis: int = 0
    shrink: int = 0


@dataclass(frozen=True)
class Resolved:
    """The slice over all axes of the input, and the shape of the result."""

    slice: SliceParams
    shape: Shape


def resolve(shape: Shape, begin: Shape, end: Shape, strides: Shape, masks: Masks) -> Resolved:
    """What a strided slice takes out of ``shape``, with the rules of numpy's indexing."""
    if not len(begin) == len(end) == len(strides) or 0 in strides:
        raise ModelError(f"begin {begin}, end {end} and strides {strides} do not fit together")
    starts: list[int] = []
    sizes: list[int] = []
    steps: list[int] = []
    result: list[int] = []
    consumed = sum(not (masks.ellipsis | masks.new_axis) >> i & 1 for i in range(len(begin)))
    for i in range(len(begin)):
        axis = len(starts)
        if masks.ellipsis >> i & 1:
            for size in shape[axis : axis + len(shape) - consumed]:
                starts.append(0)
                sizes.append(size)
                steps.append(1)
                result.append(size)
        elif masks.new_axis >> i & 1:
            result.append(1)
        elif axis >= len(shape):
            raise ModelError(f"begin {begin} has more axes than shape {list(shape)}")
        else:
            first, count, step = _one_axis(
                shape[axis],
                None if masks.begin >> i & 1 else begin[i],
                None if masks.end >> i & 1 else end[i],
                strides[i],
                bool(masks.shrink >> i & 1),
            )
            starts.append(first)
            sizes.append(count)
            steps.append(step)
            if not masks.shrink >> i & 1:
                result.append(count)
    for size in shape[len(starts) :]:
        starts.append(0)
        sizes.append(size)
        steps.append(1)
        result.append(size)
    return Resolved(SliceParams(tuple(starts), tuple(sizes), tuple(steps)), tuple(result))


def _one_axis(
    size: int, begin: int | None, end: int | None, stride: int, is_index: bool
) -> tuple[int, int, int]:
    """(first, count, step) along one axis."""
    if is_index:
        index = begin if begin is not None else 0
        if not -size <= index < size:
            raise ModelError(f"index {index} is outside an axis of {size}")
        return index % size, 1, 1
    chosen = range(*slice(begin, end, stride).indices(size))
    return (chosen[0] if len(chosen) else 0), len(chosen), stride


@reads("STRIDED_SLICE")
def strided_slice(node: Node) -> None:
    options = node.options("StridedSliceOptions")
    if options.Offset():
        raise UnsupportedError("ends relative to begins are not supported")
    masks = Masks(
        options.BeginMask(), options.EndMask(), options.EllipsisMask(), options.NewAxisMask(),
        options.ShrinkAxisMask(),
    )  # fmt: skip
    begin, end, strides = (
        node.integers(i, what) for i, what in ((1, "begin"), (2, "end"), (3, "strides"))
    )
    resolved = resolve(node.input(0).shape, begin, end, strides, masks)
    if resolved.shape == resolved.slice.size:
        node.emit("slice", (node.input(0),), resolved.slice)
        return
    taken = node.inner("slice", (node.input(0),), resolved.slice)
    node.emit("reshape", (taken,), ReshapeParams(resolved.shape))


@reads("SLICE")
def plain_slice(node: Node) -> None:
    shape = node.input(0).shape
    begin, size = node.integers(1, "begin"), node.integers(2, "size")
    if not len(begin) == len(size) == len(shape):
        raise ModelError(f"begin {begin} and size {size} do not fit {list(shape)}")
    size = tuple(
        shape[axis] - begin[axis] if count == -1 else count for axis, count in enumerate(size)
    )
    if any(not 0 <= b <= b + n <= full for b, n, full in zip(begin, size, shape, strict=True)):
        raise ModelError(f"begin {begin} and size {size} leave shape {list(shape)}")
    node.emit("slice", (node.input(0),), SliceParams(begin, size, (1,) * len(shape)))


@reads("REVERSE_V2")
def reverse(node: Node) -> None:
    shape = node.input(0).shape
    axes = {node.axis(axis, len(shape)) for axis in node.integers(1, "axes")}
    begin = tuple(size - 1 if axis in axes else 0 for axis, size in enumerate(shape))
    stride = tuple(-1 if axis in axes else 1 for axis in range(len(shape)))
    node.emit("slice", (node.input(0),), SliceParams(begin, shape, stride))
