"""Reductions, and normalisations along an axis."""

from __future__ import annotations

from compiler.importers.tflite.node import Node, reads
from compiler.operators.normalization import (
    L2NormalizationParams,
    LogSoftmaxParams,
    SoftmaxParams,
)
from compiler.operators.reduction import ArgParams, ReduceParams

REDUCTIONS = {
    "MEAN": "mean", "SUM": "sum", "REDUCE_MAX": "reduce_max", "REDUCE_MIN": "reduce_min",
    "REDUCE_PROD": "reduce_prod", "REDUCE_ANY": "reduce_any", "REDUCE_ALL": "reduce_all",
}  # fmt: skip


@reads(*REDUCTIONS)
def reduce(node: Node) -> None:
    rank = len(node.input(0).shape)
    axes = {node.axis(axis, rank) for axis in node.integers(1, "axes")}
    keep = bool(node.options("ReducerOptions").KeepDims())
    node.emit(REDUCTIONS[node.kind], (node.input(0),), ReduceParams(tuple(sorted(axes)), keep))


@reads("ARG_MAX", "ARG_MIN")
def arg(node: Node) -> None:
    (axis,) = node.integers(1, "axis")
    params = ArgParams(node.axis(axis, len(node.input(0).shape)), dtype=node.outputs[0].dtype)
    node.emit(node.kind.lower(), (node.input(0),), params)


@reads("SOFTMAX")
def softmax(node: Node) -> None:
    axis = len(node.input(0).shape) - 1
    beta = float(node.options("SoftmaxOptions").Beta())
    node.emit("softmax", (node.input(0),), SoftmaxParams(axis, beta))


@reads("LOG_SOFTMAX")
def log_softmax(node: Node) -> None:
    axis = len(node.input(0).shape) - 1
    node.emit("log_softmax", (node.input(0),), LogSoftmaxParams(axis))


@reads("L2_NORMALIZATION")
def l2_normalization(node: Node) -> None:
    has_options = node.operator.table is not None
    activation = node.options("L2NormOptions").FusedActivationFunction() if has_options else 0
    node.emit_activated("l2_normalization", (node.input(0),), L2NormalizationParams(), activation)
