"""Convolutions: NHWC activations, OHWI weights, explicit padding (top, bottom, left, right)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from compiler.accumulate import centred, check_channels, finish_accumulator
from compiler.graph import NO_CLAMP, OpView, Shape
from compiler.registry import classify, macs, params, reference, shape
from compiler.windows import window_output_hw, windows

Array = np.ndarray


@params.of("conv2d")
@dataclass(frozen=True)
class Conv2dParams:
    """Inputs x (N,H,W,C), weight (O,kh,kw,C/groups), optional bias (O).

    ``clamp`` is in real units, also where the output is quantized.
    """

    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    groups: int = 1
    clamp: tuple[float, float] = NO_CLAMP


@params.of("depthwise_conv2d")
@dataclass(frozen=True)
class DepthwiseConv2dParams:
    """Inputs x (N,H,W,C), weight (1,kh,kw,C*m), optional bias (C*m); output channel c*m+j."""

    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    clamp: tuple[float, float] = NO_CLAMP


@params.of("transpose_conv2d")
@dataclass(frozen=True)
class TransposeConv2dParams:
    """Inputs x (N,H,W,C), weight (O,kh,kw,C), optional bias (O).

    Input (y,x) adds to output (y*stride - top + ky*dilation, ...); ``output_hw`` is (OH, OW).
    """

    output_hw: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    clamp: tuple[float, float] = NO_CLAMP


classify("conv2d", "complex")
classify("depthwise_conv2d", "complex")
classify("transpose_conv2d", "complex")


@shape.of("conv2d")
def _conv2d_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, weight, groups = view.input(0), view.input(1), view.params.groups
    check_channels(view, 0, x.shape[3] == weight.shape[3] * groups and not weight.shape[0] % groups)
    hw = window_output_hw((x.shape[1], x.shape[2]), (weight.shape[1], weight.shape[2]), view.params)
    return [((x.shape[0], *hw, weight.shape[0]), view.output().dtype)]


@shape.of("depthwise_conv2d")
def _depthwise_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, weight = view.input(0), view.input(1)
    check_channels(view, 3, weight.shape[0] == 1 and not weight.shape[3] % x.shape[3])
    hw = window_output_hw((x.shape[1], x.shape[2]), (weight.shape[1], weight.shape[2]), view.params)
    return [((x.shape[0], *hw, weight.shape[3]), view.output().dtype)]


@shape.of("transpose_conv2d")
def _transpose_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, weight = view.input(0), view.input(1)
    check_channels(view, 0, x.shape[3] == weight.shape[3])
    return [((x.shape[0], *view.params.output_hw, weight.shape[0]), view.output().dtype)]


@macs.of("conv2d")
def _conv2d_macs(view: OpView) -> int:
    return view.output().elements * math.prod(view.input(1).shape[1:])


@macs.of("depthwise_conv2d")
def _depthwise_macs(view: OpView) -> int:
    return view.output().elements * math.prod(view.input(1).shape[1:3])


@macs.of("transpose_conv2d")
def _transpose_macs(view: OpView) -> int:
    return view.input(0).elements * math.prod(view.input(1).shape[:3])


def conv2d_sums(x: Array, weight: Array, params: Conv2dParams) -> Array:
    """Accumulators (N,OH,OW,O) of images and weights whose zero is 0."""
    groups = params.groups
    outputs, kernel_height, kernel_width, depth = weight.shape
    output_hw = window_output_hw(x.shape[1:3], (kernel_height, kernel_width), params)
    taps = windows(x, (kernel_height, kernel_width), output_hw, params)
    pieces = []
    for group in range(groups):
        part = taps[:, :, :, group * depth : (group + 1) * depth]
        columns = part.transpose(0, 1, 2, 4, 5, 3).reshape(-1, kernel_height * kernel_width * depth)
        rows = weight[group * outputs // groups : (group + 1) * outputs // groups]
        pieces.append(columns @ rows.reshape(len(rows), -1).T)
    return np.concatenate(pieces, axis=1).reshape(x.shape[0], *output_hw, outputs)


def depthwise_sums(x: Array, weight: Array, params: DepthwiseConv2dParams) -> Array:
    """As `conv2d_sums`."""
    _, kernel_height, kernel_width, outputs = weight.shape
    output_hw = window_output_hw(x.shape[1:3], (kernel_height, kernel_width), params)
    taps = windows(x, (kernel_height, kernel_width), output_hw, params)
    multiplier = outputs // x.shape[3]
    accumulator = np.zeros((x.shape[0], *output_hw, x.shape[3], multiplier), x.dtype)
    for ky in range(kernel_height):
        for kx in range(kernel_width):
            tap = weight[0, ky, kx].reshape(x.shape[3], multiplier)
            accumulator += taps[..., ky, kx][..., None] * tap
    return accumulator.reshape(x.shape[0], *output_hw, outputs)


@reference.of("conv2d")
def _conv2d(view: OpView, x: Array, weight: Array, bias: Array | None = None) -> Array:
    """Padding contributes real 0: integers are centred before they are padded."""
    x, weight = centred(x, view.input(0)), centred(weight, view.input(1))
    return finish_accumulator(view, conv2d_sums(x, weight, view.params), bias)


@reference.of("depthwise_conv2d")
def _depthwise(view: OpView, x: Array, weight: Array, bias: Array | None = None) -> Array:
    x, weight = centred(x, view.input(0)), centred(weight, view.input(1))
    return finish_accumulator(view, depthwise_sums(x, weight, view.params), bias)


@reference.of("transpose_conv2d")
def _transpose(view: OpView, x: Array, weight: Array, bias: Array | None = None) -> Array:
    p = view.params
    x, weight = centred(x, view.input(0)), centred(weight, view.input(1))
    batch, height, width, _ = x.shape
    outputs, kernel_height, kernel_width, _ = weight.shape
    (stride_y, stride_x), (dilation_y, dilation_x) = p.stride, p.dilation
    top, left = p.padding[0], p.padding[2]
    reach_y = (height - 1) * stride_y + (kernel_height - 1) * dilation_y + 1
    reach_x = (width - 1) * stride_x + (kernel_width - 1) * dilation_x + 1
    size = (max(reach_y, top + p.output_hw[0]), max(reach_x, left + p.output_hw[1]))
    canvas = np.zeros((batch, *size, outputs), x.dtype)
    for ky in range(kernel_height):
        for kx in range(kernel_width):
            y, first_x = ky * dilation_y, kx * dilation_x
            rows = slice(y, y + (height - 1) * stride_y + 1, stride_y)
            columns = slice(first_x, first_x + (width - 1) * stride_x + 1, stride_x)
            canvas[:, rows, columns] += x @ weight[:, ky, kx].T
    inner = canvas[:, top : top + p.output_hw[0], left : left + p.output_hw[1]]
    return finish_accumulator(view, inner, bias)
