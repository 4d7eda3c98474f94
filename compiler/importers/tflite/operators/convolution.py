"""Convolutions, and the windows that SAME and VALID padding mean."""

from __future__ import annotations

import struct
from typing import Any

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Tensor
from compiler.importers.tflite.node import Node, reads
from compiler.importers.tflite.operators.weights import float_weights, is_hybrid
from compiler.importers.tflite.schema import schema
from compiler.operators.convolution import (
    Conv2dParams,
    DepthwiseConv2dParams,
    TransposeConv2dParams,
)
from compiler.operators.hybrid import HybridConv2dParams, HybridDepthwiseConv2dParams

Padding = tuple[int, int, int, int]


def same_padding(size: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """(before, after) along one axis so that the output has ceil(size / stride) elements.

    The odd element goes after (tensorflow/lite/kernels/padding.h).
    """
    output = -(-size // stride)
    total = max((output - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def window_padding(
    node: Node,
    scheme: int,
    image: Tensor,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int] = (1, 1),
) -> Padding:
    """(top, bottom, left, right) that ``scheme`` means for a window over (N,H,W,C)."""
    if len(image.shape) != 4:
        raise ModelError(f"its input '{image.name}' has shape {list(image.shape)}, not (N,H,W,C)")
    if min(*kernel, *stride, *dilation) < 1:
        raise ModelError(f"kernel {kernel}, stride {stride} and dilation {dilation} must be >= 1")
    if node.operator.padding is not None:
        return node.operator.padding
    if scheme == schema().Padding.VALID:
        return 0, 0, 0, 0
    if scheme != schema().Padding.SAME:
        raise UnsupportedError(f"padding scheme {scheme} is not supported")
    rows = same_padding(image.shape[1], kernel[0], stride[0], dilation[0])
    columns = same_padding(image.shape[2], kernel[1], stride[1], dilation[1])
    return (*rows, *columns)


def _window(node: Node, options: Any) -> dict[str, Any]:
    """Stride, dilation and padding of a convolution, as parameters."""
    image, weight = node.input(0), node.input(1)
    if len(weight.shape) != 4:
        raise ModelError(f"its weights have shape {list(weight.shape)}, not 4 dimensions")
    stride = (options.StrideH(), options.StrideW())
    dilation = node.operator.dilation or (options.DilationHFactor(), options.DilationWFactor())
    kernel = (weight.shape[1], weight.shape[2])
    padding = window_padding(node, options.Padding(), image, kernel, stride, dilation)
    return {"stride": stride, "dilation": dilation, "padding": padding}


def _emit(
    node: Node, kind: str, params: Conv2dParams | DepthwiseConv2dParams, activation: int
) -> None:
    """The convolution, or its hybrid, which is symmetric where the weights have one scale."""
    weight: Tensor = node.input(1)
    if is_hybrid(node):
        kind, cls = _HYBRIDS[kind]
        symmetric = weight.quant is not None and not weight.quant.per_channel
        params = cls(**vars(params), symmetric=symmetric)
    else:
        weight = float_weights(node, 1)
    node.emit_activated(kind, (node.input(0), weight, node.optional(2)), params, activation)


_HYBRIDS: dict[str, tuple[str, Any]] = {
    "conv2d": ("hybrid_conv2d", HybridConv2dParams),
    "depthwise_conv2d": ("hybrid_depthwise_conv2d", HybridDepthwiseConv2dParams),
}


@reads("CONV_2D")
def conv2d(node: Node) -> None:
    options = node.options("Conv2DOptions")
    channels, group_channels = node.input(0).shape[-1], node.input(1).shape[-1]
    if group_channels < 1 or channels % group_channels:
        raise ModelError(f"{channels} input channels do not fit weights for {group_channels}")
    params = Conv2dParams(groups=channels // group_channels, **_window(node, options))
    _emit(node, "conv2d", params, options.FusedActivationFunction())


@reads("DEPTHWISE_CONV_2D")
def depthwise_conv2d(node: Node) -> None:
    options = node.options("DepthwiseConv2DOptions")
    params = DepthwiseConv2dParams(**_window(node, options))
    _emit(node, "depthwise_conv2d", params, options.FusedActivationFunction())


def _transpose(
    node: Node,
    image: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    output_hw: tuple[int, int],
    stride: tuple[int, int],
    activation: int,
    *,
    is_same: bool,
) -> None:
    edges: list[int] = []
    for axis in (0, 1):
        # The padding of the convolution that goes the other way, from output to input.
        covered = (image.shape[1 + axis] - 1) * stride[axis] + weight.shape[1 + axis]
        total = covered - output_hw[axis]
        before = max(total, 0) // 2 if is_same else 0
        edges += [before, max(total - before, 0)]
    padding = (edges[0], edges[1], edges[2], edges[3])
    params = TransposeConv2dParams(output_hw, stride, padding=padding)
    node.emit_activated("transpose_conv2d", (image, weight, bias), params, activation)


@reads("TRANSPOSE_CONV")
def transpose_conv2d(node: Node) -> None:
    options = node.options("TransposeConvOptions")
    output = node.integers(0, "output shape")
    weight, image = float_weights(node, 1, image=2), node.input(2)
    if len(output) != 4 or len(weight.shape) != 4 or len(image.shape) != 4:
        raise ModelError("its output shape, weights and input must have 4 dimensions")
    _transpose(
        node, image, weight, node.optional(3), (output[1], output[2]),
        (options.StrideH(), options.StrideW()), options.FusedActivationFunction(),
        is_same=options.Padding() == schema().Padding.SAME,
    )  # fmt: skip


#: TfLitePadding, as custom operators have it.
_CUSTOM_SAME, _CUSTOM_VALID = 1, 2


@reads("Convolution2DTransposeBias")
def transpose_conv2d_bias(node: Node) -> None:
    """MediaPipe's: the options are padding, stride along x, stride along y, as int32."""
    if len(node.operator.custom_options) < 12:
        raise ModelError("its options have fewer than 12 bytes; get the file again")
    scheme, stride_x, stride_y = struct.unpack_from("<3i", node.operator.custom_options)
    image, weight = node.input(0), float_weights(node, 1)
    if len(weight.shape) != 4 or len(image.shape) != 4:
        raise ModelError("its weights and input must have 4 dimensions")
    if scheme not in (_CUSTOM_SAME, _CUSTOM_VALID) or min(stride_x, stride_y) < 1:
        raise ModelError(f"padding {scheme} and stride {stride_y}, {stride_x} cannot be")
    is_same = scheme == _CUSTOM_SAME
    sizes = [
        size * step + (0 if is_same else max(kernel - step, 0))
        for size, step, kernel in zip(
            image.shape[1:3], (stride_y, stride_x), weight.shape[1:3], strict=True
        )
    ]
    _transpose(
        node, image, weight, node.optional(2), (sizes[0], sizes[1]), (stride_y, stride_x), 0,
        is_same=is_same,
    )  # fmt: skip
