"""Operators that move elements or only rename their shape."""

from __future__ import annotations

import math

import numpy as np

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Shape
from compiler.importers.onnx_model.node import Node, normal_axis, reads
from compiler.operators.movement import (
    BlockParams,
    BroadcastToParams,
    GatherParams,
    PadParams,
    SliceParams,
    SplitParams,
    TileParams,
)


@reads("Flatten")
def flatten(node: Node) -> str:
    shape = node.shape()
    axis = int(node.attribute("axis", 1))
    axis = axis + len(shape) if axis < 0 else axis
    return node.build.reshape(node.input(), (math.prod(shape[:axis]), math.prod(shape[axis:])))


@reads("Reshape")
def reshape(node: Node) -> str:
    """0 keeps a dimension (unless ``allowzero``), -1 is what remains."""
    old, wanted = node.shape(), node.integers_at(1, "shape")
    if not node.attribute("allowzero", 0):
        wanted = [old[i] if size == 0 else size for i, size in enumerate(wanted)]
    if -1 in wanted:
        known = -math.prod(wanted)
        wanted[wanted.index(-1)] = math.prod(old) // known if known else 0
    if math.prod(wanted) != math.prod(old):
        raise ModelError(f"reshape of {list(old)} to {wanted}")
    return node.build.reshape(node.input(), wanted)


@reads("Squeeze")
def squeeze(node: Node) -> str:
    shape = node.shape()
    axes = node.axes(1)
    drop = [i for i, size in enumerate(shape) if size == 1] if axes is None else axes
    if any(shape[axis] != 1 for axis in drop):
        raise ModelError(f"squeeze of axes {list(drop)} of {list(shape)}")
    return node.build.reshape(node.input(), [s for i, s in enumerate(shape) if i not in drop])


@reads("Unsqueeze")
def unsqueeze(node: Node) -> str:
    old = node.shape()
    count = len(node.attribute("axes", [])) or len(node.integers_at(1, "axes"))
    axes = node.axes(1, rank=len(old) + count) or ()
    sizes = iter(old)
    shape = [1 if i in axes else next(sizes) for i in range(len(old) + count)]
    return node.build.reshape(node.input(), shape)


@reads("Transpose")
def transpose(node: Node) -> str:
    default = list(reversed(range(node.rank())))
    return node.build.transpose(node.input(), [int(p) for p in node.attribute("perm", default)])


@reads("Concat")
def concat(node: Node) -> str:
    """Empty parts, which shape arithmetic leaves behind, are dropped."""
    parts = [name for name in node.inputs if math.prod(node.build.shape(name))]
    if len(parts) == 1:
        return parts[0]
    axis = normal_axis(int(node.required("axis")), node.rank())
    return node.build.concat(parts, axis)


@reads("Split")
def split(node: Node) -> tuple[str, ...]:
    axis = node.axis(0)
    full, count = node.shape()[axis], len(node.proto.output)
    if node.given("split"):
        sizes = [int(s) for s in node.attribute("split", [])]
    elif node.has(1):
        sizes = node.integers_at(1, "split sizes")
    else:
        each = math.ceil(full / count)
        sizes = [each] * (count - 1) + [full - each * (count - 1)]
    if sum(sizes) != full or len(sizes) != count:
        raise ModelError(f"split of {full} into {sizes}")
    return node.build.emit_all("split", (node.input(),), SplitParams(axis, tuple(sizes)))


@reads("Slice")
def slice_(node: Node) -> str:
    shape = node.shape()
    if node.given("starts"):
        starts, ends = (list(node.attribute(name, [])) for name in ("starts", "ends"))
        axes, steps = node.axes(99), [1] * len(starts)
    else:
        starts, ends = node.integers_at(1, "starts"), node.integers_at(2, "ends")
        axes = node.axes(3)
        steps = node.integers_at(4, "steps") if node.has(4) else [1] * len(starts)
    ranges = [range(size) for size in shape]
    for axis, start, end, step in zip(axes or range(len(starts)), starts, ends, steps, strict=True):
        ranges[axis] = range(*slice(int(start), int(end), int(step)).indices(shape[axis]))
    return _sliced(node, node.input(), ranges)


def _sliced(node: Node, name: str, ranges: list[range]) -> str:
    if all(r == range(size) for r, size in zip(ranges, node.build.shape(name), strict=True)):
        return name
    if not all(ranges):
        shape, dtype = tuple(map(len, ranges)), node.build.tensors[name].dtype
        return node.build.constant(np.empty(shape, dtype), "empty")
    params = SliceParams(
        tuple(r.start for r in ranges),
        tuple(len(r) for r in ranges),
        tuple(r.step if len(r) > 1 else 1 for r in ranges),
    )
    return node.build.emit("slice", name, params=params)


@reads("Gather")
def gather(node: Node) -> str:
    """One constant index is a slice; the rest gathers."""
    build, shape, axis = node.build, node.shape(), node.axis(0)
    indices = node.data(1)
    if indices is None or indices.ndim:
        return build.emit("gather", node.input(0), node.input(1), params=GatherParams(axis))
    position = normal_axis(int(indices), shape[axis])
    ranges = [range(size) for size in shape]
    ranges[axis] = range(position, position + 1)
    return build.reshape(_sliced(node, node.input(), ranges), (*shape[:axis], *shape[axis + 1 :]))


@reads("Pad")
def pad(node: Node) -> str:
    build = node.build
    if node.attribute("mode", "constant") == "wrap":
        return _wrapped(node)
    mode = {"constant": "constant", "reflect": "reflect", "edge": "edge"}.get(
        node.attribute("mode", "constant")
    )
    if mode is None:
        raise UnsupportedError(f"mode '{node.attribute('mode', '')}'")
    before, after = _pads(node)
    value = float(node.attribute("value", 0.0))
    if node.has(2):
        value = float(node.constant(2, "pad value").reshape(()))
    ranges = [
        range(max(-b, 0), size - max(-a, 0))
        for b, a, size in zip(before, after, node.shape(), strict=True)
    ]
    x = _sliced(node, node.input(), ranges)
    params = PadParams(
        tuple(max(b, 0) for b in before), tuple(max(a, 0) for a in after), mode, value
    )
    return build.emit("pad", x, params=params) if any(params.before + params.after) else x


def _pads(node: Node) -> tuple[list[int], list[int]]:
    """Before and after each axis; negative ones cut."""
    rank = node.rank()
    pads = [int(p) for p in node.attribute("pads", [])] or node.integers_at(1, "pads")
    axes = list(range(rank))
    if node.has(3):
        axes = [normal_axis(axis, rank) for axis in node.integers_at(3, "axes")]
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(pads) // 2]
    return before, after


def _wrapped(node: Node) -> str:
    """As if the tensor repeated without end."""
    build, x = node.build, node.input()
    for axis, (before, after) in enumerate(zip(*_pads(node), strict=True)):
        if before or after:
            size = build.shape(x)[axis]
            places = (np.arange(-before, size + after) % size).astype(np.int32)
            indices = build.constant(places, "places")
            x = build.emit("gather", x, indices, params=GatherParams(axis))
    return x


@reads("Expand")
def expand(node: Node) -> str:
    """Broadcasting goes both ways: the input may be the larger one."""
    wanted: Shape = np.broadcast_shapes(node.shape(), tuple(node.integers_at(1, "shape")))
    if wanted == node.shape():
        return node.input()
    return node.build.emit("broadcast_to", node.input(), params=BroadcastToParams(wanted))


@reads("Tile")
def tile(node: Node) -> str:
    repeats = tuple(node.integers_at(1, "repeats"))
    if set(repeats) <= {1}:
        return node.input()
    return node.build.emit("tile", node.input(), params=TileParams(repeats))


@reads("DepthToSpace", "SpaceToDepth")
def blocks(node: Node) -> str:
    build = node.build
    kind = "depth_to_space" if node.kind == "DepthToSpace" else "space_to_depth"
    mode = str(node.attribute("mode", "DCR")).lower()
    params = BlockParams(int(node.required("blocksize")), mode)
    x = build.channels_last(node.input())
    return build.channels_first(build.emit(kind, x, params=params))
