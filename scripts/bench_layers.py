"""The layers that kernels are timed on: those of MLPerf Tiny and of MobileNetV2, by shape."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from compiler.graph import Graph, Op, OpView, Quantization, Tensor
from compiler.operators.convolution import Conv2dParams, DepthwiseConv2dParams
from compiler.operators.elementwise import ArithmeticParams
from compiler.operators.matrix import FullyConnectedParams
from compiler.operators.pooling import PoolParams


@dataclass(frozen=True)
class Layer:
    """``op`` over a square or (height, width) image; SAME padding; ``count`` times in the model."""

    model: str
    op: str
    image: tuple[int, int]
    channels: int
    outputs: int
    kernel: tuple[int, int] = (1, 1)
    stride: int = 1
    count: int = 1

    def __str__(self) -> str:
        short = {"conv2d": "conv", "depthwise_conv2d": "dw", "fully_connected": "fc"}
        kind = short.get(self.op, self.op)
        size = f"{self.kernel[0]}x{self.kernel[1]}" + (f"/{self.stride}" if self.stride > 1 else "")
        image = f"{self.image[0]}x{self.image[1]}x{self.channels}"
        return f"{self.model} {kind} {size} {image} -> {self.outputs}"


def _conv(model: str, size: int, c: int, o: int, k: int = 1, s: int = 1, n: int = 1) -> Layer:
    return Layer(model, "conv2d", (size, size), c, o, (k, k), s, n)


def _depthwise(model: str, size: int, c: int, s: int = 1, n: int = 1) -> Layer:
    return Layer(model, "depthwise_conv2d", (size, size), c, c, (3, 3), s, n)


def _dense(model: str, depth: int, outputs: int, n: int = 1) -> Layer:
    return Layer(model, "fully_connected", (1, 1), depth, outputs, count=n)


def _add(model: str, size: int, c: int, n: int = 1) -> Layer:
    return Layer(model, "add", (size, size), c, c, count=n)


def _average(model: str, height: int, width: int, c: int) -> Layer:
    return Layer(model, "average_pool2d", (height, width), c, c, (height, width))


def _separable(model: str, rows: list[tuple[int, int, int, int, int]]) -> Iterator[Layer]:
    """(image, channels, outputs, stride, count): a depthwise and a pointwise convolution."""
    for size, c, o, s, n in rows:
        yield _depthwise(model, size, c, s, n)
        yield _conv(model, -(-size // s), c, o, n=n)


def _inverted(model: str, rows: list[tuple[int, int, int, int, int, int]]) -> Iterator[Layer]:
    """(image, channels, expanded, outputs, stride, count): MobileNetV2's block."""
    for size, c, expanded, o, s, n in rows:
        if expanded != c:
            yield _conv(model, size, c, expanded, n=n)
        yield _depthwise(model, size, expanded, s, n)
        yield _conv(model, -(-size // s), expanded, o, n=n)


LAYERS: tuple[Layer, ...] = (
    Layer("kws", "conv2d", (49, 10), 1, 64, (10, 4), 2),
    Layer("kws", "depthwise_conv2d", (25, 5), 64, 64, (3, 3), count=4),
    Layer("kws", "conv2d", (25, 5), 64, 64, count=4),
    _average("kws", 25, 5, 64), _dense("kws", 64, 12),
    _conv("ic", 32, 3, 16, 3),
    _conv("ic", 32, 16, 16, 3, n=2),
    _conv("ic", 32, 16, 32, 3, 2),
    _conv("ic", 16, 32, 32, 3),
    _conv("ic", 32, 16, 32, 1, 2),
    _conv("ic", 16, 32, 64, 3, 2),
    _conv("ic", 8, 64, 64, 3),
    _conv("ic", 16, 32, 64, 1, 2),
    _add("ic", 32, 16), _add("ic", 16, 32), _add("ic", 8, 64), _average("ic", 8, 8, 64),
    _dense("ic", 64, 10),
    _conv("vww", 96, 3, 8, 3, 2),
    *_separable(
        "vww",
        [
            (48, 8, 16, 1, 1), (48, 16, 32, 2, 1), (24, 32, 32, 1, 1), (24, 32, 64, 2, 1),
            (12, 64, 64, 1, 1), (12, 64, 128, 2, 1), (6, 128, 128, 1, 5), (6, 128, 256, 2, 1),
            (3, 256, 256, 1, 1),
        ],
    ),
    _average("vww", 3, 3, 256), _dense("vww", 256, 2),
    _dense("ad", 640, 128), _dense("ad", 128, 128, 6), _dense("ad", 128, 8),
    _dense("ad", 8, 128), _dense("ad", 128, 640),
    _conv("mnv2", 224, 3, 32, 3, 2),
    *_inverted(
        "mnv2",
        [
            (112, 32, 32, 16, 1, 1), (112, 16, 96, 24, 2, 1), (56, 24, 144, 24, 1, 1),
            (56, 24, 144, 32, 2, 1), (28, 32, 192, 32, 1, 2), (28, 32, 192, 64, 2, 1),
            (14, 64, 384, 64, 1, 3), (14, 64, 384, 96, 1, 1), (14, 96, 576, 96, 1, 2),
            (14, 96, 576, 160, 2, 1), (7, 160, 960, 160, 1, 2), (7, 160, 960, 320, 1, 1),
        ],
    ),
    _add("mnv2", 56, 24), _add("mnv2", 28, 32, 2), _add("mnv2", 14, 64, 3), _add("mnv2", 14, 96, 2),
    _add("mnv2", 7, 160, 2), _conv("mnv2", 7, 320, 1280), _average("mnv2", 7, 7, 1280),
    _dense("mnv2", 1280, 1000),
)  # fmt: skip


def _same(size: int, kernel: int, stride: int) -> tuple[int, int]:
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def view_of(layer: Layer, dtype: str, numerics: str) -> OpView:
    """The layer as an operator with random weights, in ``dtype`` (int8 or float32)."""
    plain = _plain_view(layer, dtype, numerics)
    return plain if plain is not None else _weighted_view(layer, dtype, numerics)


def _plain_view(layer: Layer, dtype: str, numerics: str) -> OpView | None:
    """A sum or an average over the whole image; None for layers with weights."""
    image = (1, *layer.image, layer.channels)
    quant = Quantization((0.05,), (-3,)) if dtype == "int8" else None
    inputs: tuple[str, ...] = ("x",)
    output = (1, 1, 1, layer.channels)
    params: object = PoolParams(layer.kernel)
    if layer.op == "add":
        inputs, output, params = ("x", "w"), image, ArithmeticParams((0.0, math.inf))
    elif layer.op != "average_pool2d":
        return None
    tensors = [Tensor(n, image, dtype, quant) for n in inputs] + [Tensor("y", output, dtype, quant)]
    op = Op(layer.op, str(layer), inputs, ("y",), params)
    graph = Graph("bench", {t.name: t for t in tensors}, (op,), inputs, ("y",), numerics)
    return graph.view(op)


def _weighted_view(layer: Layer, dtype: str, numerics: str) -> OpView:
    random = np.random.default_rng(0)
    height, width = layer.image
    depthwise = layer.op == "depthwise_conv2d"
    stride = (layer.stride, layer.stride)
    pads = (*_same(height, layer.kernel[0], stride[0]), *_same(width, layer.kernel[1], stride[1]))
    output_hw = (-(-height // layer.stride), -(-width // layer.stride))
    image, output = (1, height, width, layer.channels), (1, *output_hw, layer.outputs)
    if layer.op == "fully_connected":
        image, output = (1, layer.channels), (1, layer.outputs)  # type: ignore[assignment]
        weight_shape: tuple[int, ...] = (layer.outputs, layer.channels)
        params: object = FullyConnectedParams(True, (0.0, math.inf))
    elif depthwise:
        weight_shape = (1, *layer.kernel, layer.outputs)
        params = DepthwiseConv2dParams(stride, padding=pads, clamp=(0.0, math.inf))
    else:
        weight_shape = (layer.outputs, *layer.kernel, layer.channels)
        params = Conv2dParams(stride, padding=pads, clamp=(0.0, math.inf))
    depth = int(np.prod(weight_shape)) // layer.outputs
    if dtype == "float32":
        weight, bias = random.normal(0, 1, weight_shape), random.normal(0, 1, layer.outputs)
        scales = None
    else:
        weight = random.integers(-127, 128, weight_shape)
        bias = random.integers(-1000, 1000, layer.outputs)
        scales = tuple(float(s) for s in random.uniform(0.5, 1.0, layer.outputs))
    axis = 3 if depthwise else 0
    bias_type = "float32" if dtype == "float32" else "int32"
    tensors = [
        Tensor("x", image, dtype, scales and Quantization((1.0,), (-3,))),
        Tensor("w", weight_shape, dtype,
               scales and Quantization(scales, (0,) * len(scales), axis), weight.astype(dtype)),
        Tensor("b", (layer.outputs,), bias_type, None, bias.astype(bias_type)),
        Tensor("y", output, dtype, scales and Quantization((depth**0.5 * 100,), (-128,))),
    ]  # fmt: skip
    op = Op(layer.op, str(layer), ("x", "w", "b"), ("y",), params)
    graph = Graph("bench", {t.name: t for t in tensors}, (op,), ("x",), ("y",), numerics)
    return graph.view(op)
