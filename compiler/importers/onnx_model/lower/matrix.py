"""Gemm and MatMul: fully connected where the right side is constant."""

from __future__ import annotations

import numpy as np

from compiler.graph import Shape
from compiler.importers.onnx_model.node import Node, reads
from compiler.operators.matrix import BatchMatmulParams, FullyConnectedParams


@reads("MatMul")
def matmul(node: Node) -> str:
    """numpy's matmul; vectors become matrices for as long as it takes."""
    build, (a, b) = node.build, (node.input(0), node.input(1))
    left, right = build.shape(a), build.shape(b)
    output: Shape = (*left[:-1], right[-1]) if len(right) > 1 else left[:-1]
    if len(left) == 1:
        a = build.reshape(a, (1, left[0]))
        output = (*right[:-2], right[-1]) if len(right) > 1 else ()
    if len(right) == 1:
        b = build.reshape(b, (right[0], 1))
    weight = build.data(b)
    if weight is not None and weight.ndim == 2:
        matrix = build.transpose(b, (1, 0))
        y = build.emit("fully_connected", a, matrix, params=FullyConnectedParams(keep_dims=True))
    else:
        y = build.emit("batch_matmul", a, b, params=BatchMatmulParams())
    return build.reshape(y, output) if 1 in (len(left), len(right)) else y


@reads("Gemm")
def gemm(node: Node) -> str:
    """alpha * A' * B' + beta * C, with the factors folded into constants."""
    build, weight = node.build, node.data(1)
    alpha, beta = float(node.attribute("alpha", 1.0)), float(node.attribute("beta", 1.0))
    transposed_a, transposed_b = (bool(node.attribute(n, 0)) for n in ("transA", "transB"))
    if weight is None:
        params = BatchMatmulParams(transposed_a, transposed_b)
        y = build.emit("batch_matmul", node.input(0), node.input(1), params=params)
        y = _scaled(node, y, alpha)
        return _plus(node, y, beta)
    a = build.transpose(node.input(0), (1, 0)) if transposed_a else node.input(0)
    matrix = weight if transposed_b else weight.T
    name = node.input(1) if transposed_b else build.transpose(node.input(1), (1, 0))
    if alpha != 1:
        name = build.constant((matrix * alpha).astype(matrix.dtype), "weight")
    inputs = [a, name]
    bias = _bias(node, beta, matrix.shape[0])
    if bias is not None:
        inputs.append(build.constant(bias, "bias"))
    y = build.emit("fully_connected", *inputs, params=FullyConnectedParams(keep_dims=True))
    return y if bias is not None else _plus(node, y, beta)


def _bias(node: Node, beta: float, outputs: int) -> np.ndarray | None:
    """C as one value per output, if it is constant and the same in every row."""
    data = node.data(2)
    if data is None or data.size not in (1, outputs):
        return None
    if data.ndim and data.shape[-1] != data.size:
        return None
    return (np.broadcast_to(data.reshape(-1), (outputs,)) * beta).astype(data.dtype)


def _scaled(node: Node, name: str, factor: float) -> str:
    if factor == 1:
        return name
    return node.build.emit("mul", name, node.build.like(name, factor))


def _plus(node: Node, name: str, beta: float) -> str:
    if not node.has(2) or beta == 0:
        return name
    return node.build.emit("add", name, _scaled(node, node.input(2), beta))
