"""Operators that move elements: views, joins, cuts, permutations."""

from __future__ import annotations

import math

import numpy as np

from compiler.errors import ModelError
from compiler.graph import Shape, Tensor
from compiler.importers.tflite.node import Node, reads
from compiler.operators.movement import (
    BlockParams,
    BroadcastToParams,
    ConcatParams,
    GatherParams,
    PadParams,
    ReshapeParams,
    SplitParams,
    TileParams,
    TransposeParams,
)
from compiler.operators.resize import ResizeParams


def _reshape_inner(node: Node, tensor: Tensor, shape: Shape) -> Tensor:
    return node.inner("reshape", (tensor,), ReshapeParams(shape))


def _shape(node: Node) -> Shape:
    """Of the input, without the axis of a complex number's parts."""
    shape = node.input(0).shape
    return shape[:-1] if node.is_complex else shape


def _emit_view(node: Node, shape: Shape) -> None:
    whole = (*shape, 2) if node.is_complex else shape
    node.emit("reshape", (node.input(0),), ReshapeParams(whole))


@reads("RESHAPE")
def reshape(node: Node) -> None:
    if node.optional(1) is not None:
        wanted = node.integers(1, "shape")
    else:
        options = node.options("ReshapeOptions")
        count = options.NewShapeLength()
        wanted = tuple(int(size) for size in options.NewShapeAsNumpy()) if count else ()
    shape = _shape(node)
    elements, known = math.prod(shape), math.prod(size for size in wanted if size != -1)
    if wanted.count(-1) == 1 and known > 0:
        wanted = tuple(elements // known if size == -1 else size for size in wanted)
    if math.prod(wanted) != elements:
        raise ModelError(f"cannot give shape {list(shape)} the shape {list(wanted)}")
    _emit_view(node, wanted)


@reads("SQUEEZE")
def squeeze(node: Node) -> None:
    shape = _shape(node)
    options = node.options("SqueezeOptions")
    count = options.SqueezeDimsLength()
    given = [int(axis) for axis in options.SqueezeDimsAsNumpy()] if count else None
    if given is None:
        axes = {axis for axis, size in enumerate(shape) if size == 1}
    else:
        axes = {node.axis(axis, len(shape)) for axis in given}
    if any(shape[axis] != 1 for axis in axes):
        raise ModelError(f"cannot squeeze axes {sorted(axes)} of shape {list(shape)}")
    kept = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    _emit_view(node, kept)


@reads("EXPAND_DIMS")
def expand_dims(node: Node) -> None:
    shape = _shape(node)
    (value,) = node.integers(1, "axis")
    axis = node.axis(value, len(shape) + 1)
    _emit_view(node, (*shape[:axis], 1, *shape[axis:]))


@reads("PACK")
def pack(node: Node) -> None:
    shape = node.input(0).shape
    axis = node.axis(node.options("PackOptions").Axis(), len(shape) + 1)
    longer = (*shape[:axis], 1, *shape[axis:])
    parts = [_reshape_inner(node, node.input(i), longer) for i in range(len(node.inputs))]
    node.emit("concat", parts, ConcatParams(axis))


@reads("UNPACK")
def unpack(node: Node) -> None:
    tensor = node.input(0)
    axis = node.axis(node.options("UnpackOptions").Axis(), len(tensor.shape))
    count = tensor.shape[axis]
    if count != len(node.outputs):
        raise ModelError(f"{count} elements along axis {axis} but {len(node.outputs)} outputs")
    shape = (*tensor.shape[:axis], *tensor.shape[axis + 1 :])
    parts = [
        Tensor(node.build.fresh(f"{out.name}/part"), (), out.dtype, out.quant)
        for out in node.outputs
    ]
    cut = node.build.add("split", (tensor,), SplitParams(axis, (1,) * count), parts, node.name)
    for part, output in zip(cut, node.outputs, strict=True):
        node.build.add("reshape", (part,), ReshapeParams(shape), (output,))


@reads("CONCATENATION")
def concatenation(node: Node) -> None:
    options = node.options("ConcatenationOptions")
    axis = node.axis(options.Axis(), len(node.input(0).shape))
    inputs = [node.input(index) for index in range(len(node.inputs))]
    node.emit_activated("concat", inputs, ConcatParams(axis), options.FusedActivationFunction())


@reads("SPLIT")
def split(node: Node) -> None:
    (value,) = node.integers(0, "axis")
    axis, count = node.axis(value, len(node.input(1).shape)), len(node.outputs)
    size = node.input(1).shape[axis]
    if size % count:
        raise ModelError(f"{size} elements along axis {axis} do not split into {count}")
    node.emit("split", (node.input(1),), SplitParams(axis, (size // count,) * count))


@reads("SPLIT_V")
def split_v(node: Node) -> None:
    sizes = list(node.integers(1, "sizes"))
    (value,) = node.integers(2, "axis")
    axis = node.axis(value, len(node.input(0).shape))
    if sizes.count(-1) == 1:
        rest = node.input(0).shape[axis] - sum(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = rest
    if sum(sizes) != node.input(0).shape[axis] or min(sizes) < 0:
        raise ModelError(f"sizes {sizes} do not fit axis {axis} of {list(node.input(0).shape)}")
    node.emit("split", (node.input(0),), SplitParams(axis, tuple(sizes)))


@reads("TRANSPOSE")
def transpose(node: Node) -> None:
    rank = len(node.input(0).shape)
    permutation = tuple(node.axis(axis, rank) for axis in node.integers(1, "permutation"))
    if sorted(permutation) != list(range(rank)):
        raise ModelError(f"{list(permutation)} is no permutation of {rank} axes")
    node.emit("transpose", (node.input(0),), TransposeParams(permutation))


def _edges(node: Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pairs = node.array(1, "paddings").reshape(-1, 2)
    if len(pairs) != len(node.input(0).shape) or (pairs < 0).any():
        raise ModelError(f"paddings {pairs.tolist()} do not fit {list(node.input(0).shape)}")
    return tuple(int(n) for n in pairs[:, 0]), tuple(int(n) for n in pairs[:, 1])


@reads("PAD", "PADV2")
def pad(node: Node) -> None:
    value = 0.0
    fill = node.optional(2)
    if fill is not None:
        raw = float(node.array(2, "value").reshape(()))
        value = raw if fill.quant is None else fill.scale * (raw - fill.zero_point)
    node.emit("pad", (node.input(0),), PadParams(*_edges(node), value=value))


@reads("MIRROR_PAD")
def mirror_pad(node: Node) -> None:
    mode = ("reflect", "symmetric")[node.options("MirrorPadOptions").Mode()]
    node.emit("pad", (node.input(0),), PadParams(*_edges(node), mode=mode))


@reads("EMBEDDING_LOOKUP")
def embedding_lookup(node: Node) -> None:
    node.emit("gather", (node.input(1), node.input(0)), GatherParams(0))


@reads("TILE")
def tile(node: Node) -> None:
    node.emit("tile", (node.input(0),), TileParams(node.integers(1, "multiples")))


@reads("BROADCAST_TO")
def broadcast_to(node: Node) -> None:
    node.emit("broadcast_to", (node.input(0),), BroadcastToParams(node.integers(1, "shape")))


@reads("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")
def block(node: Node) -> None:
    table = "DepthToSpaceOptions" if node.kind == "DEPTH_TO_SPACE" else "SpaceToDepthOptions"
    node.emit(node.kind.lower(), (node.input(0),), BlockParams(node.options(table).BlockSize()))


@reads("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(node: Node) -> None:
    is_bilinear = node.kind == "RESIZE_BILINEAR"
    kind = "resize_bilinear" if is_bilinear else "resize_nearest"
    options = node.options(
        "ResizeBilinearOptions" if is_bilinear else "ResizeNearestNeighborOptions"
    )
    height, width = node.integers(1, "size")
    params = ResizeParams(
        (height, width), bool(options.AlignCorners()), bool(options.HalfPixelCenters())
    )
    node.emit(kind, (node.input(0),), params)


@reads("BROADCAST_ARGS")
def broadcast_args(node: Node) -> None:
    shapes = (node.integers(0, "shape"), node.integers(1, "shape"))
    node.result(np.asarray(np.broadcast_shapes(*shapes)))
