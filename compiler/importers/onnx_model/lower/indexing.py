"""Gathers and scatters at computed indices, and what is made of masks and comparisons."""

from __future__ import annotations

import numpy as np

from compiler.errors import ModelError
from compiler.importers.onnx_model.metadata import dtype_of
from compiler.importers.onnx_model.node import Node, normal_axis, reads
from compiler.operators.grid import GridSampleParams
from compiler.operators.indexing import (
    REDUCTIONS,
    CumsumParams,
    GatherElementsParams,
    GatherNdParams,
    ScatterElementsParams,
    ScatterNdParams,
    TopKParams,
)
from compiler.operators.movement import BroadcastToParams, SliceParams
from compiler.operators.reduction import ArgParams


def _reduction(node: Node) -> str:
    reduction = str(node.attribute("reduction", "none"))
    if reduction not in REDUCTIONS:
        raise ModelError(f"reduction '{reduction}' is not one that ONNX has")
    return reduction


@reads("GatherND")
def gather_nd(node: Node) -> str:
    params = GatherNdParams(int(node.attribute("batch_dims", 0)))
    return node.build.emit("gather_nd", node.input(0), node.input(1), params=params)


@reads("GatherElements")
def gather_elements(node: Node) -> str:
    params = GatherElementsParams(node.axis(0))
    return node.build.emit("gather_elements", node.input(0), node.input(1), params=params)


@reads("ScatterElements", "Scatter")
def scatter_elements(node: Node) -> str:
    params = ScatterElementsParams(node.axis(0), _reduction(node))
    return node.build.emit("scatter_elements", *(node.input(i) for i in range(3)), params=params)


@reads("ScatterND")
def scatter_nd(node: Node) -> str:
    params = ScatterNdParams(_reduction(node))
    return node.build.emit("scatter_nd", *(node.input(i) for i in range(3)), params=params)


@reads("TopK")
def top_k(node: Node) -> tuple[str, ...]:
    k = int(node.attribute("k", 0)) or node.integers_at(1, "k")[0]
    axis = node.axis(-1)
    if not 0 < k <= node.shape()[axis]:
        raise ModelError(f"the {k} largest of {node.shape()[axis]}")
    params = TopKParams(axis, k, bool(node.attribute("largest", 1)), "int64")
    return node.build.emit_all("top_k", (node.input(),), params)


@reads("CumSum")
def cumsum(node: Node) -> str:
    axis = normal_axis(node.integers_at(1, "the axis")[0], node.rank())
    exclusive, reverse = (bool(node.attribute(name, 0)) for name in ("exclusive", "reverse"))
    params = CumsumParams(axis, exclusive, reverse)
    return node.build.emit("cumsum", node.input(), params=params)


@reads("Trilu")
def trilu(node: Node) -> str:
    """A triangle of every matrix; the rest is 0."""
    build, shape = node.build, node.shape()
    diagonal = node.integers_at(1, "the diagonal")[0] if node.has(1) else 0
    ones = np.ones(shape[-2:], bool)
    mask = np.triu(ones, diagonal) if node.attribute("upper", 1) else np.tril(ones, diagonal)
    zero = build.like(node.input(), 0)
    return build.emit("select", build.constant(mask, "mask"), node.input(), zero,
                      dtype=node.dtype())  # fmt: skip


@reads("OneHot")
def one_hot(node: Node) -> str:
    """Where the index, negative from the end, is the position along the new axis."""
    build, depth = node.build, node.integers_at(1, "the depth")[0]
    rank = node.rank()
    axis = normal_axis(int(node.attribute("axis", -1)), rank + 1)
    dtype = node.dtype() if node.dtype() in ("int32", "int64") else "float32"
    indices = build.cast(node.input(), dtype)
    indices = build.reshape(indices, (*node.shape()[:axis], 1, *node.shape()[axis:]))
    places = np.arange(depth).astype(dtype).reshape(-1, *[1] * (rank - axis))
    found = [
        build.emit("equal", indices, build.constant(positions, "places"), dtype="bool")
        for positions in (places, places - np.asarray(depth, dtype))
    ]
    off, on = (_element(node, 2, i) for i in (0, 1))
    return build.emit("select", build.emit("logical_or", *found), on, off, dtype=node.dtype(2))


def _element(node: Node, index: int, position: int) -> str:
    """One element of a vector, as a scalar."""
    data = node.data(index)
    if data is not None:
        return node.build.constant(data[position], "value")
    params = SliceParams((position,), (1,), (1,))
    return node.build.reshape(node.build.emit("slice", node.input(index), params=params), ())


@reads("Hardmax")
def hardmax(node: Node) -> str:
    """1 at the first largest along one axis since opset 13, before along all from there on."""
    build, shape, x = node.build, node.shape(), node.input()
    old = node.opset < 13
    axis = node.axis(1 if old else -1)
    if old:
        x = build.reshape(x, (int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))))
        axis = 1
    best = build.emit("arg_max", x, params=ArgParams(axis, keep_dims=True, dtype="int64"))
    places = np.arange(build.shape(x)[axis]).reshape(-1, *[1] * (len(build.shape(x)) - 1 - axis))
    found = build.emit("equal", best, build.constant(places, "places"), dtype="bool")
    return build.reshape(build.cast(found, node.dtype()), shape)


def _along(values: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """A vector as a tensor that only ``axis`` is long in."""
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


@reads("ReverseSequence")
def reverse_sequence(node: Node) -> str:
    """Element t of a sequence of length n is element n - 1 - t, where that is not negative."""
    build, shape = node.build, node.shape()
    time, batch = int(node.attribute("time_axis", 0)), int(node.attribute("batch_axis", 1))
    t = build.constant(_along(np.arange(shape[time]), time, len(shape)), "time")
    lengths = [shape[batch] if i == batch else 1 for i in range(len(shape))]
    length = build.reshape(build.cast(node.input(1), "int64"), lengths)
    last = build.emit("sub", length, build.constant(np.asarray(1, np.int64), "one"))
    mirrored = build.emit("sub", last, t)
    inside = build.emit("less", t, length, dtype="bool")
    source = build.emit("select", inside, mirrored, t, dtype="int64")
    full = build.emit("broadcast_to", source, params=BroadcastToParams(shape))
    return build.emit("gather_elements", node.input(), full, params=GatherElementsParams(time))


@reads("EyeLike")
def eye_like(node: Node) -> str:
    rows, columns = node.shape()
    dtype = dtype_of(node.attribute("dtype", 0)) if node.given("dtype") else node.dtype()
    diagonal = int(node.attribute("k", 0))
    return node.build.constant(np.eye(rows, columns, diagonal).astype(dtype), "eye")


@reads("TensorScatter")
def tensor_scatter(node: Node) -> str:
    """The update goes into the cache along ``axis``, in each sample from its write index on."""
    build, shape, update = node.build, node.shape(), node.shape(1)
    axis = node.axis(-2)
    places = build.constant(_along(np.arange(update[axis]), axis, len(shape)), "places")
    if node.has(2):
        first = build.reshape(build.cast(node.input(2), "int64"), (-1, *[1] * (len(shape) - 1)))
        places = build.emit("add", first, places)
    if node.attribute("mode", "linear") == "circular":
        extent = build.constant(np.asarray(shape[axis], np.int64), "extent")
        places = build.emit("floor_mod", places, extent)
    full = build.emit("broadcast_to", places, params=BroadcastToParams(update))
    params = ScatterElementsParams(axis)
    return build.emit("scatter_elements", node.input(0), full, node.input(1), params=params)


@reads("GridSample")
def grid_sample(node: Node) -> str:
    """Opset 16 called the modes bilinear and bicubic."""
    mode = node.attribute("mode", "linear")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    padding = node.attribute("padding_mode", "zeros")
    params = GridSampleParams(mode, padding, bool(node.attribute("align_corners", 0)))
    return node.build.emit("grid_sample", node.input(0), node.input(1), params=params)
