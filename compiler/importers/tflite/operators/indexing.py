"""Reads at computed indices, the largest k, sums so far, and what indices stand for."""

from __future__ import annotations

import numpy as np

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Tensor
from compiler.importers.tflite.node import Node, reads
from compiler.operators.elementwise import BinaryParams, SelectParams
from compiler.operators.indexing import CumsumParams, GatherNdParams, TopKParams
from compiler.operators.movement import GatherParams, ReshapeParams

#: Entries of the table of positions that ONE_HOT compares with.
MOST_POSITIONS = 2**20


@reads("GATHER")
def gather(node: Node) -> None:
    options = node.options("GatherOptions")
    tensor, indices = node.input(0), node.input(1)
    axis = node.axis(options.Axis(), len(tensor.shape))
    batch = options.BatchDims()
    if batch < 0:
        batch += len(indices.shape)
    if batch == 0:
        node.emit("gather", (tensor, indices), GatherParams(axis))
        return
    if axis != batch:
        raise UnsupportedError(f"GATHER along axis {axis} with {batch} batch dimensions")
    single = node.inner("reshape", (indices,), ReshapeParams((*indices.shape, 1)))
    node.emit("gather_nd", (tensor, single), GatherNdParams(batch))


@reads("GATHER_ND")
def gather_nd(node: Node) -> None:
    node.emit("gather_nd", (node.input(0), node.input(1)), GatherNdParams())


@reads("TOPK_V2")
def top_k(node: Node) -> None:
    """Along the last axis, largest first."""
    (k,) = node.integers(1, "k")
    axis = len(node.input(0).shape) - 1
    if axis < 0 or not 0 <= k <= node.input(0).shape[axis]:
        raise ModelError(f"there are no {k} elements along the last axis")
    params = TopKParams(axis, k, index_dtype=node.outputs[1].dtype)
    node.emit("top_k", (node.input(0),), params)


@reads("CUMSUM")
def cumsum(node: Node) -> None:
    options = node.options("CumsumOptions")
    (axis,) = node.integers(1, "axis")
    axis = node.axis(axis, len(node.input(0).shape))
    if node.outputs[0].quant is not None:
        raise UnsupportedError("a quantized CUMSUM is not supported")
    params = CumsumParams(axis, bool(options.Exclusive()), bool(options.Reverse()))
    node.emit("cumsum", (node.input(0),), params)


@reads("ONE_HOT")
def one_hot(node: Node) -> None:
    """Where the position along the new axis is the index, the first value, else the second."""
    indices, (depth,) = node.input(0), node.integers(1, "depth")
    rank = len(indices.shape) + 1
    axis = node.axis(node.options("OneHotOptions").Axis(), rank)
    if not 0 <= depth <= MOST_POSITIONS:
        raise UnsupportedError(f"a depth of {depth} is not supported")
    shape = (*indices.shape[:axis], 1, *indices.shape[axis:])
    longer = node.inner("reshape", (indices,), ReshapeParams(shape))
    positions = np.arange(depth).reshape([-1 if i == axis else 1 for i in range(rank)])
    places = node.constant("positions", positions.astype(indices.dtype))
    name = node.build.fresh(f"{node.name}/equal")
    (is_there,) = node.build.add(
        "equal", (longer, places), BinaryParams(), (Tensor(name, (), "bool"),), name
    )
    node.emit("select", (is_there, node.input(2), node.input(3)), SelectParams())


@reads("WHERE")
def where(node: Node) -> None:
    """How many elements there are must be known: only of a constant."""
    condition = node.array(0, "condition")
    node.result(np.argwhere(condition))
