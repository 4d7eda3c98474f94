"""Convolutions against LiteRT's reference kernels: dtypes, strides, dilations, paddings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.operators.litert import Case, Spec, compare, random_values

SAME, VALID = 0, 1
RELU, RELU_N1_TO_1, RELU6 = 1, 2, 3


@dataclass(frozen=True)
class Window:
    """A window over an input (N,H,W,C)."""

    image: tuple[int, int, int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: int = SAME

    @property
    def output_hw(self) -> tuple[int, int]:
        sizes = zip(self.image[1:3], self.kernel, self.stride, self.dilation, strict=True)
        height, width = (
            -(-size // s) if self.padding == SAME else -(-(size - (k - 1) * d) // s)
            for size, k, s, d in sizes
        )
        return height, width

    @property
    def fields(self) -> dict[str, Any]:
        return {
            "padding": self.padding,
            "strideH": self.stride[0],
            "strideW": self.stride[1],
            "dilationHFactor": self.dilation[0],
            "dilationWFactor": self.dilation[1],
        }


WINDOWS = [
    Window((1, 7, 6, 5), (3, 3)),
    Window((2, 8, 9, 4), (3, 2), (2, 1)),
    Window((1, 9, 7, 3), (1, 1), (2, 2)),
    Window((1, 9, 11, 2), (3, 3), (1, 1), (2, 3)),
    Window((1, 6, 6, 8), (5, 4), (3, 2), padding=VALID),
    Window((3, 4, 4, 1), (4, 4), padding=VALID),
    Window((1, 8, 1, 4), (3, 1), (1, 1), (2, 1)),
]


def float32(value: float) -> float:
    return float(np.float32(value))


def weight_specs(
    rng: np.random.Generator,
    dtype: str,
    shape: Sequence[int],
    axis: int,
    input_scale: float,
    *,
    per_channel: bool = True,
    with_bias: bool = True,
    bias_dtype: str = "",
) -> list[Spec]:
    """Constant weights, quantized along ``axis``, and a bias in the accumulator's scale."""
    channels = shape[axis]
    if dtype == "float32":
        weights = Spec(tuple(shape), dtype, data=random_values(rng, shape, dtype))
        bias = Spec((channels,), dtype, data=random_values(rng, (channels,), dtype))
        return [weights, bias] if with_bias else [weights]
    scales = [float32(10 ** rng.uniform(-2.5, -1.5)) for _ in range(channels)]
    if not per_channel:
        scales = scales[:1]
    zero = int(rng.integers(0, 256)) if dtype == "uint8" else 0
    weight_dtype = "int8" if dtype == "int16" else dtype
    data = random_values(rng, shape, weight_dtype)
    data = data if dtype == "uint8" else np.maximum(data, -127)
    weights = Spec(tuple(shape), weight_dtype, scales, zero, axis, data)
    if not with_bias:
        return [weights]
    bias_dtype = bias_dtype or ("int64" if dtype == "int16" else "int32")
    limit = 3_000_000 if dtype == "int16" else 9000
    values = rng.integers(-limit, limit, channels)
    bias_scales = [float32(input_scale * scale) for scale in scales]
    return [weights, Spec((channels,), bias_dtype, bias_scales, 0, 0, values)]


def activation(rng: np.random.Generator, shape: Sequence[int], dtype: str, scale: float) -> Spec:
    if dtype == "float32":
        return Spec(tuple(shape), dtype)
    info = np.iinfo(dtype)
    zero = int(rng.integers(info.min, info.max + 1)) if dtype != "int16" else 0
    return Spec(tuple(shape), dtype, float32(scale), zero)


def accumulator_scale(taps: int, dtype: str) -> float:
    """Output scale for inputs of scale 0.02 that lets most results stay inside the range."""
    scale, deviation, steps = (0.02, 74, 100) if dtype != "int16" else (0.0002, 18900, 25000)
    return scale * deviation * 0.012 * 74 * math.sqrt(taps) / steps


def conv_case(
    rng: np.random.Generator,
    window: Window,
    outputs: int,
    dtype: str,
    groups: int = 1,
    **options: Any,
) -> Case:
    fused = options.pop("fused", 0)
    scale = 0.02 if dtype != "int16" else 0.0002
    channels = window.image[3] // groups
    x = activation(rng, window.image, dtype, scale)
    shape = (outputs, *window.kernel, channels)
    weights = weight_specs(rng, dtype, shape, 0, scale, **options)
    out_scale = accumulator_scale(math.prod(shape[1:]), dtype)
    y = activation(rng, (window.image[0], *window.output_hw, outputs), dtype, out_scale)
    fields = {**window.fields, "fusedActivationFunction": fused}
    return Case("CONV_2D", [x, *weights], [y], "Conv2DOptions", 5, fields)


def depthwise_case(
    rng: np.random.Generator, window: Window, multiplier: int, dtype: str, **options: Any
) -> Case:
    fused = options.pop("fused", 0)
    scale = 0.02 if dtype != "int16" else 0.0002
    outputs = window.image[3] * multiplier
    x = activation(rng, window.image, dtype, scale)
    shape = (1, *window.kernel, outputs)
    weights = weight_specs(rng, dtype, shape, 3, scale, **options)
    out_scale = accumulator_scale(math.prod(window.kernel), dtype)
    y = activation(rng, (window.image[0], *window.output_hw, outputs), dtype, out_scale)
    fields = {**window.fields, "fusedActivationFunction": fused, "depthMultiplier": multiplier}
    return Case("DEPTHWISE_CONV_2D", [x, *weights], [y], "DepthwiseConv2DOptions", 6, fields)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
def test_conv2d(dtype: str, window: Window, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    per_channel = dtype != "uint8"
    for outputs, fused in ((1, 0), (7, RELU), (9, RELU6)):
        case = conv_case(rng, window, outputs, dtype, per_channel=per_channel, fused=fused)
        compare(case, tmp_path, rng)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_conv2d_groups(dtype: str, per_channel: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    window = Window((1, 5, 6, 6), (3, 3))
    if dtype == "uint8" and per_channel:
        pytest.skip("TFLite has no per-channel uint8 weights")
    for groups in (1, 2, 3):
        case = conv_case(rng, window, 6, dtype, groups, per_channel=per_channel, fused=RELU_N1_TO_1)
        compare(case, tmp_path, rng)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
def test_depthwise_conv2d(dtype: str, window: Window, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    per_channel = dtype != "uint8"
    for multiplier, fused in ((1, 0), (2, RELU), (3, RELU6)):
        case = depthwise_case(rng, window, multiplier, dtype, per_channel=per_channel, fused=fused)
        compare(case, tmp_path, rng)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_depthwise_conv2d_per_tensor_without_bias(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for window in WINDOWS:
        case = depthwise_case(rng, window, 1, dtype, per_channel=False, with_bias=False)
        compare(case, tmp_path, rng)


#: image, kernel, stride, output height and width (SAME: output = image * stride).
TRANSPOSED = [
    ((1, 4, 4, 8), (4, 4), (2, 2), SAME, (8, 8)),
    ((1, 3, 5, 2), (3, 3), (2, 2), SAME, (6, 10)),
    ((2, 3, 4, 3), (3, 2), (1, 1), VALID, (5, 5)),
    ((1, 4, 4, 2), (2, 2), (2, 2), VALID, (8, 8)),
    ((1, 2, 3, 4), (5, 3), (3, 2), VALID, (8, 7)),
    ((1, 5, 5, 1), (1, 1), (2, 2), SAME, (10, 10)),
    ((1, 4, 4, 3), (3, 3), (2, 2), SAME, (7, 7)),
]


@pytest.mark.parametrize("shape", TRANSPOSED)
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
def test_transpose_conv2d(dtype: str, shape: tuple[Any, ...], tmp_path: Path) -> None:
    image, kernel, stride, padding, output_hw = shape
    rng = np.random.default_rng(5)
    scale = 0.02 if dtype != "int16" else 0.0002
    for outputs, with_bias in ((1, True), (4, True), (5, False)):
        full = (image[0], *output_hw, outputs)
        wanted = Spec((4,), "int32", data=np.array(full))
        weights = weight_specs(
            rng, dtype, (outputs, *kernel, image[3]), 0, scale,
            per_channel=dtype != "uint8", with_bias=with_bias,
        )  # fmt: skip
        x = activation(rng, image, dtype, scale)
        y = activation(rng, full, dtype, accumulator_scale(math.prod(kernel) * image[3], dtype))
        fields = {"padding": padding, "strideH": stride[0], "strideW": stride[1]}
        inputs = [wanted, weights[0], x, *weights[1:]]
        case = Case("TRANSPOSE_CONV", inputs, [y], "TransposeConvOptions", 4, fields)
        compare(case, tmp_path, rng)
