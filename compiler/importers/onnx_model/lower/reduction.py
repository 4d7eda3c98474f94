"""Reductions over axes, softmax, and the index of the extreme."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from compiler.errors import ModelError
from compiler.importers.onnx_model.node import Node, reads
from compiler.operators.movement import SliceParams
from compiler.operators.normalization import LogSoftmaxParams, SoftmaxParams
from compiler.operators.reduction import ArgParams, ReduceParams


@dataclass(frozen=True)
class _Recipe:
    """A reduction with an elementwise operator before and one after it."""

    reduction: str
    before: str = ""
    after: str = ""


RECIPES = {
    "ReduceMean": _Recipe("mean"), "ReduceSum": _Recipe("sum"),
    "ReduceMax": _Recipe("reduce_max"), "ReduceMin": _Recipe("reduce_min"),
    "ReduceProd": _Recipe("reduce_prod"), "ReduceL1": _Recipe("sum", "abs"),
    "ReduceL2": _Recipe("sum", "square", "sqrt"), "ReduceSumSquare": _Recipe("sum", "square"),
    "ReduceLogSum": _Recipe("sum", "", "log"), "ReduceLogSumExp": _Recipe("sum", "exp", "log"),
}  # fmt: skip


def _recipe(node: Node) -> _Recipe:
    """Of bool, the largest is whether there is any, the least whether all are."""
    if node.dtype() == "bool" and node.kind in ("ReduceMax", "ReduceMin"):
        return _Recipe("reduce_any" if node.kind == "ReduceMax" else "reduce_all")
    return RECIPES[node.kind]


@reads(*RECIPES)
def reduce(node: Node) -> str:
    """Without axes over all of them, unless ``noop_with_empty_axes``."""
    recipe = _recipe(node)
    axes = node.axes(1)
    x = node.build.emit(recipe.before, node.input()) if recipe.before else node.input()
    if axes or not node.attribute("noop_with_empty_axes", 0):
        chosen = tuple(sorted(set(axes or range(node.rank()))))
        params = ReduceParams(chosen, keep_dims=bool(node.attribute("keepdims", 1)))
        x = node.build.emit(recipe.reduction, x, params=params)
    return node.build.emit(recipe.after, x) if recipe.after else x


@reads("ArgMax", "ArgMin")
def arg(node: Node) -> str:
    """The last of equal ones (``select_last_index``) is the first from behind."""
    build, x, shape, axis = node.build, node.input(), node.shape(), node.axis(0)
    kind = "arg_max" if node.kind == "ArgMax" else "arg_min"
    params = ArgParams(axis, keep_dims=bool(node.attribute("keepdims", 1)), dtype="int64")
    if not node.attribute("select_last_index", 0):
        return build.emit(kind, x, params=params)
    begin, stride = [0] * len(shape), [1] * len(shape)
    begin[axis], stride[axis] = shape[axis] - 1, -1
    turned = build.emit("slice", x, params=SliceParams(tuple(begin), shape, tuple(stride)))
    last = build.constant(np.asarray(shape[axis] - 1, np.int64), "last")
    return build.emit("sub", last, build.emit(kind, turned, params=params), dtype="int64")


@reads("Softmax", "LogSoftmax")
def softmax(node: Node) -> str:
    """Along one axis since opset 13; before, along everything from ``axis`` on."""
    build, x, shape = node.build, node.input(), node.shape()
    old = node.opset < 13
    axis = node.axis(1 if old else -1)
    if old and axis != len(shape) - 1:
        x = build.reshape(x, (math.prod(shape[:axis]), math.prod(shape[axis:])))
        axis = 1
    params = SoftmaxParams(axis) if node.kind == "Softmax" else LogSoftmaxParams(axis)
    y = build.emit("softmax" if node.kind == "Softmax" else "log_softmax", x, params=params)
    return build.reshape(y, shape)


@reads("LpNormalization")
def lp_normalization(node: Node) -> str:
    """x / its norm along one axis; of what is all 0 it is NaN, as ONNX says."""
    build, x, p = node.build, node.input(), int(node.attribute("p", 2))
    if p not in (1, 2):
        raise ModelError(f"p={p}; ONNX has 1 and 2")
    params = ReduceParams((node.axis(-1),), keep_dims=True)
    terms = build.emit("abs" if p == 1 else "square", x)
    norm = build.emit("sum", terms, params=params)
    if p == 2:
        norm = build.emit("sqrt", norm)
    return build.emit("div", x, norm)
