"""Normalisations, lowered to arithmetic; a constant batch normalisation is one mul and add."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from compiler.errors import UnsupportedError
from compiler.importers.onnx_model.node import Node, reads
from compiler.operators.reduction import ReduceParams


def _per_channel(node: Node, name: str, rank: int) -> str:
    """(C,) as (1, C, 1, ...)."""
    return node.build.reshape(name, (1, *node.build.shape(name), *[1] * (rank - 2)))


@reads("BatchNormalization")
def batch_normalization(node: Node) -> str:
    if node.attribute("training_mode", 0):
        raise UnsupportedError("training mode; export the model for inference")
    parts = [node.constant(i, "statistics").astype(np.float64) for i in range(1, 5)]
    gamma, beta, mean, variance = parts
    scale = gamma / np.sqrt(variance + float(node.attribute("epsilon", 1e-5)))
    build, shape = node.build, (1, -1, *[1] * (node.rank() - 2))
    constants = [
        build.constant(value.astype(np.float32).reshape(shape), suffix)
        for value, suffix in ((scale, "scale"), (beta - mean * scale, "shift"))
    ]
    return build.emit("add", build.emit("mul", node.input(), constants[0]), constants[1])


def _statistics(node: Node, x: str, axes: Sequence[int], epsilon: float) -> tuple[str, str, str]:
    """((x - mean) * inverse, mean, inverse), inverse = 1 / sqrt(variance + epsilon)."""
    build, params = node.build, ReduceParams(tuple(axes), keep_dims=True)
    mean = build.emit("mean", x, params=params)
    centred = build.emit("sub", x, mean)
    variance = build.emit("mean", build.emit("square", centred), params=params)
    inverse = build.emit("rsqrt", build.emit("add", variance, build.like(x, epsilon)))
    return build.emit("mul", centred, inverse), mean, inverse


def _normalized(node: Node, x: str, axes: Sequence[int], epsilon: float) -> str:
    return _statistics(node, x, axes, epsilon)[0]


@reads("LayerNormalization")
def layer_normalization(node: Node) -> tuple[str, str, str]:
    axes, epsilon = range(node.axis(-1), node.rank()), float(node.attribute("epsilon", 1e-5))
    y, mean, inverse = _statistics(node, node.input(), axes, epsilon)
    y = node.build.emit("mul", y, node.input(1))
    return (node.build.emit("add", y, node.input(2)) if node.has(2) else y), mean, inverse


@reads("InstanceNormalization")
def instance_normalization(node: Node) -> str:
    rank = node.rank()
    y = _normalized(node, node.input(), range(2, rank), float(node.attribute("epsilon", 1e-5)))
    y = node.build.emit("mul", y, _per_channel(node, node.input(1), rank))
    return node.build.emit("add", y, _per_channel(node, node.input(2), rank))


@reads("GroupNormalization")
def group_normalization(node: Node) -> str:
    """Scale and bias are per channel since opset 21, per group before."""
    build, shape = node.build, node.shape()
    groups = int(node.required("num_groups"))
    grouped = (shape[0], groups, shape[1] // groups * math.prod(shape[2:]))
    x = build.reshape(node.input(), grouped)
    y = _normalized(node, x, (2,), float(node.attribute("epsilon", 1e-5)))
    if node.shape(1) == (groups,) and groups != shape[1]:
        y = build.emit("mul", y, _per_channel(node, node.input(1), 3))
        y = build.emit("add", y, _per_channel(node, node.input(2), 3))
        return build.reshape(y, shape)
    y = build.reshape(y, shape)
    y = build.emit("mul", y, _per_channel(node, node.input(1), len(shape)))
    return build.emit("add", y, _per_channel(node, node.input(2), len(shape)))


@reads("MeanVarianceNormalization")
def mean_variance_normalization(node: Node) -> str:
    axes = node.axes(1) or (0, 2, 3)
    return _normalized(node, node.input(), axes, 1e-9)
