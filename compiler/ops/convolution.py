"""Convolutions: NHWC activations, OHWI weights, explicit padding (top, bottom, left, right)."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.graph import NO_CLAMP
from compiler.registry import classify, params


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
