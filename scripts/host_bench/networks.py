"""The networks that are timed, as lists of layers with random weights; no file format knows them.

Shapes are (height, width, channels). Weights are drawn so that activations keep a variance of
about one, so any scale of int8 fits every layer alike; times do not depend on the values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

Kind = Literal["conv", "depthwise", "dense", "add", "average", "max"]
Activation = Literal["none", "relu", "relu6"]
Image = tuple[int, int, int]


@dataclass(frozen=True)
class Layer:
    """``average`` is over the whole image, ``dense`` of the flattened input."""

    kind: Kind
    name: str
    inputs: tuple[str, ...]
    shape: Image  # of the output
    input_shape: Image
    kernel: tuple[int, int] = (1, 1)
    stride: int = 1
    activation: Activation = "none"
    weights: np.ndarray | None = None  # (O, kh, kw, C); depthwise (C, kh, kw, 1)
    bias: np.ndarray | None = None

    @property
    def padding(self) -> tuple[int, int, int, int]:
        """SAME: top, left, bottom, right."""
        totals = [
            max((-(-size // self.stride) - 1) * self.stride + k - size, 0)
            for size, k in zip(self.input_shape[:2], self.kernel, strict=True)
        ]
        top, left = (total // 2 for total in totals)
        return top, left, totals[0] - top, totals[1] - left

    @property
    def macs(self) -> int:
        if self.weights is None:
            return 0
        pixels = self.shape[0] * self.shape[1]
        return pixels * self.weights.size


@dataclass
class Network:
    """Built layer by layer: each method returns the name of its output."""

    name: str
    image: Image
    layers: list[Layer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(7)

    @property
    def macs(self) -> int:
        return sum(layer.macs for layer in self.layers)

    def shape_of(self, name: str) -> Image:
        return next((x.shape for x in self.layers if x.name == name), self.image)

    def conv(
        self, x: str, channels: int, kernel: int | tuple[int, int] = 1, stride: int = 1,
        activation: Activation = "relu",
    ) -> str:  # fmt: skip
        height, width, depth = self.shape_of(x)
        kernel_hw = (kernel, kernel) if isinstance(kernel, int) else kernel
        shape = (-(-height // stride), -(-width // stride), channels)
        weights = self._weights((channels, *kernel_hw, depth))
        return self._add("conv", (x,), shape, kernel_hw, stride, activation, weights)

    def depthwise(
        self, x: str, kernel: int = 3, stride: int = 1, activation: Activation = "relu"
    ) -> str:
        height, width, depth = self.shape_of(x)
        shape = (-(-height // stride), -(-width // stride), depth)
        weights = self._weights((depth, kernel, kernel, 1))
        return self._add("depthwise", (x,), shape, (kernel, kernel), stride, activation, weights)

    def dense(self, x: str, outputs: int, activation: Activation = "none") -> str:
        depth = int(np.prod(self.shape_of(x)))
        weights = self._weights((outputs, 1, 1, depth))
        return self._add("dense", (x,), (1, 1, outputs), (1, 1), 1, activation, weights)

    def add(self, a: str, b: str, activation: Activation = "none") -> str:
        return self._add("add", (a, b), self.shape_of(a), (1, 1), 1, activation)

    def average(self, x: str) -> str:
        height, width, depth = self.shape_of(x)
        return self._add("average", (x,), (1, 1, depth), (height, width), 1, "none")

    def max_pool(self, x: str, kernel: int, stride: int) -> str:
        height, width, depth = self.shape_of(x)
        shape = (-(-height // stride), -(-width // stride), depth)
        return self._add("max", (x,), shape, (kernel, kernel), stride, "none")

    def _weights(self, shape: tuple[int, ...]) -> np.ndarray:
        deviation = (2 / np.prod(shape[1:])) ** 0.5
        return self.random.normal(0, deviation, shape).astype(np.float32)

    def _add(
        self, kind: Kind, inputs: tuple[str, ...], shape: Image, kernel: tuple[int, int],
        stride: int, activation: Activation, weights: np.ndarray | None = None,
    ) -> str:  # fmt: skip
        bias = None
        if weights is not None:
            bias = self.random.normal(0, 0.1, weights.shape[0]).astype(np.float32)
        name = f"{kind}_{len(self.layers)}"
        layer = Layer(
            kind, name, inputs, shape, self.shape_of(inputs[0]), kernel, stride, activation,
            weights, bias,
        )  # fmt: skip
        self.layers.append(layer)
        return name


def kws() -> Network:
    """MLPerf Tiny keyword spotting: DS-CNN."""
    net = Network("kws", (49, 10, 1))
    x = net.conv("input", 64, (10, 4), 2)
    for _ in range(4):
        x = net.conv(net.depthwise(x), 64)
    net.dense(net.average(x), 12)
    return net


def vww() -> Network:
    """MLPerf Tiny visual wake words: MobileNetV1, width 0.25."""
    net = Network("vww", (96, 96, 3))
    x = net.conv("input", 8, 3, 2)
    for channels, stride in (
        (16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1),
    ):  # fmt: skip
        x = net.conv(net.depthwise(x, 3, stride), channels)
    net.dense(net.average(x), 2)
    return net


def _residual(net: Network, x: str, channels: int, stride: int) -> str:
    y = net.conv(net.conv(x, channels, 3, stride), channels, 3, 1, "none")
    if net.shape_of(x) != net.shape_of(y):
        x = net.conv(x, channels, 1, stride, "none")
    return net.add(y, x, "relu")


def ic() -> Network:
    """MLPerf Tiny image classification: ResNet8."""
    net = Network("ic", (32, 32, 3))
    x = net.conv("input", 16, 3)
    for channels, stride in ((16, 1), (32, 2), (64, 2)):
        x = _residual(net, x, channels, stride)
    net.dense(net.average(x), 10)
    return net


def ad() -> Network:
    """MLPerf Tiny anomaly detection: autoencoder."""
    net = Network("ad", (1, 1, 640))
    x = "input"
    for outputs in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        x = net.dense(x, outputs, "relu")
    net.dense(x, 640)
    return net


def resnet18() -> Network:
    net = Network("resnet18", (224, 224, 3))
    x = net.max_pool(net.conv("input", 64, 7, 2), 3, 2)
    for channels, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        x = _residual(net, _residual(net, x, channels, stride), channels, 1)
    net.dense(net.average(x), 1000)
    return net


def _inverted(net: Network, x: str, factor: int, channels: int, kernel: int, stride: int) -> str:
    depth = net.shape_of(x)[2]
    y = net.conv(x, depth * factor, 1, 1, "relu6") if factor > 1 else x
    y = net.conv(net.depthwise(y, kernel, stride, "relu6"), channels, 1, 1, "none")
    return net.add(y, x) if stride == 1 and depth == channels else y


def _mobile(name: str, stages: tuple[tuple[int, int, int, int, int], ...]) -> Network:
    """``stages`` are (expansion, channels, repeats, stride, kernel)."""
    net = Network(name, (224, 224, 3))
    x = net.conv("input", 32, 3, 2, "relu6")
    for factor, channels, repeats, stride, kernel in stages:
        for i in range(repeats):
            x = _inverted(net, x, factor, channels, kernel, stride if i == 0 else 1)
    net.dense(net.average(net.conv(x, 1280, 1, 1, "relu6")), 1000)
    return net


def mobilenetv2() -> Network:
    stages = (
        (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3),
        (6, 160, 3, 2, 3), (6, 320, 1, 1, 3),
    )  # fmt: skip
    return _mobile("mobilenetv2", stages)


def efficientnet_lite0() -> Network:
    stages = (
        (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
        (6, 192, 4, 2, 5), (6, 320, 1, 1, 3),
    )  # fmt: skip
    return _mobile("efficientnet_lite0", stages)


def empty() -> Network:
    """One layer of four numbers: what a call itself costs."""
    net = Network("empty", (1, 1, 4))
    net.dense("input", 4)
    return net


NETWORKS: dict[str, Callable[[], Network]] = {
    make.__name__: make
    for make in (empty, kws, vww, ic, ad, mobilenetv2, resnet18, efficientnet_lite0)
}
