"""QLinear operators, read as DequantizeLinear, the operator, and QuantizeLinear.

The integer kernel is found behind that as in any QDQ model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from compiler.errors import UnsupportedError
from compiler.importers.onnx_model.lower.convolution import conv
from compiler.importers.onnx_model.lower.matrix import gemm, matmul
from compiler.importers.onnx_model.lower.pooling import average_pool
from compiler.importers.onnx_model.lower.quantization import (
    dequantize_linear,
    quantize_linear,
    quantized_conv,
    quantized_matmul,
)
from compiler.importers.onnx_model.node import Node, reads
from compiler.importers.onnx_model.qdq import Origin
from compiler.operators.elementwise import LeakyReluParams
from compiler.operators.movement import ConcatParams
from compiler.operators.normalization import SoftmaxParams
from compiler.operators.reduction import ReduceParams

MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Part:
    """Where an integer tensor, its scale and its zero point are among the inputs."""

    value: int
    scale: int
    zero: int


def _is_known(node: Node, indices: Sequence[int]) -> bool:
    return all(not node.has(i) or node.data(i) is not None for i in indices)


def _real(node: Node, part: Part, axis: int = 0) -> str:
    """An input as real numbers; a constant remembers what integers it was."""
    build, data = node.build, node.data(part.value)
    inputs = [node.input(part.value), node.input(part.scale)]
    if node.has(part.zero):
        inputs.append(node.input(part.zero))
    if data is None:
        return dequantize_linear(node.changed(inputs, {"axis": axis}))
    scale = node.constant(part.scale, "a scale")
    zero = node.constant(part.zero, "a zero point") if node.has(part.zero) else np.zeros(1, np.int8)
    shape = [-1 if i == axis and scale.size > 1 else 1 for i in range(data.ndim)]
    points = zero.astype(np.int64).reshape(shape if zero.size > 1 else [1] * data.ndim)
    real = (data.astype(np.int64) - points) * scale.astype(np.float32).reshape(shape)
    name = build.constant(real.astype(np.float32), "real")
    build.origins[name] = Origin(data.dtype.name, scale, zero.astype(np.int64))
    return name


def _integer(node: Node, y: str, scale: int, zero: int) -> str:
    inputs = [y, node.input(scale)] + ([node.input(zero)] if node.has(zero) else [])
    return quantize_linear(node.changed(inputs, {}))


@reads("QLinearConv")
def qlinear_conv(node: Node) -> str:
    """Inputs x, its scale and zero point, the weight, its two, the output's two, the bias."""
    if not _is_known(node, range(1, 9)):
        return quantized_conv(node)
    inputs = [_real(node, Part(0, 1, 2)), _real(node, Part(3, 4, 5))]
    inputs += _bias(node, 8)
    return _integer(node, conv(node.changed(inputs, {})), 6, 7)


def _bias(node: Node, index: int) -> list[str]:
    """int32 in units of both scales, inputs 1 and 4, as real numbers; none if absent."""
    if not node.has(index):
        return []
    bias = node.constant(index, "the bias")
    scales = node.constant(1, "a scale").reshape(()) * node.constant(4, "a scale").reshape(-1)
    return [node.build.constant((bias * scales).astype(np.float32), "bias")]


@reads("QGemm", domain=MICROSOFT)
def quantized_gemm(node: Node) -> str:
    """Inputs a, its scale and zero point, b, its two, the bias, the output's two or none."""
    transposed = bool(node.attribute("transB", 0))
    inputs = [_real(node, Part(0, 1, 2)), _real(node, Part(3, 4, 5), axis=0 if transposed else 1)]
    y = gemm(node.changed([*inputs, *_bias(node, 6)], {}))
    return _integer(node, y, 7, 8) if node.has(7) else y


@reads("QLinearMatMul")
def qlinear_matmul(node: Node) -> str:
    """Inputs a, its scale and zero point, b, its two, the output's two."""
    single = all(data is not None and data.size == 1 for data in map(node.data, (1, 6)))
    if not _is_known(node, (1, 2, 4, 5, 6, 7)) or not single:
        return quantized_matmul(node)
    a, b = _real(node, Part(0, 1, 2)), _real(node, Part(3, 4, 5), axis=len(node.shape(3)) - 1)
    return _integer(node, matmul(node.changed([a, b], {})), 6, 7)


@reads("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def qlinear_binary(node: Node) -> str:
    """Inputs a, its scale and zero point, b, its two, the output's two."""
    kind = "add" if node.kind == "QLinearAdd" else "mul"
    y = node.build.emit(kind, _real(node, Part(0, 1, 2)), _real(node, Part(3, 4, 5)))
    return _integer(node, y, 6, 7)


def _sigmoid(node: Node, x: str) -> str:
    return node.build.emit("logistic", x)


def _leaky(node: Node, x: str) -> str:
    params = LeakyReluParams(float(node.attribute("alpha", 0.01)))
    return node.build.emit("leaky_relu", x, params=params)


def _global_average(node: Node, x: str) -> str:
    _refuse_channels_last(node)
    axes = tuple(range(2, len(node.build.shape(x))))
    return node.build.emit("mean", x, params=ReduceParams(axes, keep_dims=True))


def _average(node: Node, x: str) -> str:
    _refuse_channels_last(node)
    return average_pool(node.changed([x], {}))


def _softmax(node: Node, x: str) -> str:
    rank = len(node.build.shape(x))
    axis = int(node.attribute("axis", -1)) % rank
    if int(node.attribute("opset", 13)) < 13 and axis != rank - 1:
        raise UnsupportedError("a softmax over several axes")
    return node.build.emit("softmax", x, params=SoftmaxParams(axis))


def _refuse_channels_last(node: Node) -> None:
    if node.attribute("channels_last", 0):
        raise UnsupportedError("channels_last=1")


UNARY: dict[str, Callable[[Node, str], str]] = {
    "QLinearSigmoid": _sigmoid, "QLinearLeakyRelu": _leaky,
    "QLinearGlobalAveragePool": _global_average, "QLinearAveragePool": _average,
    "QLinearSoftmax": _softmax,
}  # fmt: skip


@reads(*UNARY, domain=MICROSOFT)
def qlinear_unary(node: Node) -> str:
    """Inputs x, its scale and zero point, the output's two."""
    return _integer(node, UNARY[node.kind](node, _real(node, Part(0, 1, 2))), 3, 4)


@reads("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(node: Node) -> str:
    """Inputs: the output's scale and zero point, then three of each part."""
    parts = [_real(node, Part(i, i + 1, i + 2)) for i in range(2, len(node.inputs), 3)]
    axis = int(node.required("axis")) % len(node.build.shape(parts[0]))
    y = node.build.emit("concat", *parts, params=ConcatParams(axis))
    return _integer(node, y, 0, 1)


@reads("QuantizeLinear", domain=MICROSOFT)
def quantize_linear_microsoft(node: Node) -> str:
    return quantize_linear(node)


@reads("DequantizeLinear", domain=MICROSOFT)
def dequantize_linear_microsoft(node: Node) -> str:
    return dequantize_linear(node)
