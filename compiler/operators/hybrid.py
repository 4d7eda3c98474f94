"""Float operators with int8 weights, whose activations are quantized anew in each run.

This is what TFLite computes for dynamic-range models: sums are of integers, in one scale per
batch, and become floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.numerics import round_half_away
from compiler.operators.convolution import (
    Conv2dParams,
    DepthwiseConv2dParams,
    conv2d_sums,
    depthwise_sums,
)
from compiler.operators.matrix import FullyConnectedParams
from compiler.registry import classify, macs, params, reference, shape

Array = np.ndarray

#: Each hybrid operator and the one that it is in float.
FLOAT_KINDS = {
    "hybrid_conv2d": "conv2d",
    "hybrid_depthwise_conv2d": "depthwise_conv2d",
    "hybrid_fully_connected": "fully_connected",
}


@params.of("hybrid_conv2d")
@dataclass(frozen=True)
class HybridConv2dParams(Conv2dParams):
    """Inputs as a conv2d's, the weights int8 of zero point 0, the rest float32.

    Each image of the batch is quantized to int8: ``symmetric`` by its largest magnitude,
    otherwise by its range.
    """

    symmetric: bool = False


@params.of("hybrid_depthwise_conv2d")
@dataclass(frozen=True)
class HybridDepthwiseConv2dParams(DepthwiseConv2dParams):
    """Inputs as a depthwise_conv2d's; see hybrid_conv2d."""

    symmetric: bool = False


@params.of("hybrid_fully_connected")
@dataclass(frozen=True)
class HybridFullyConnectedParams(FullyConnectedParams):
    """Inputs as a fully_connected's; see hybrid_conv2d. Each row is quantized by itself."""

    symmetric: bool = False


for _kind, _float in FLOAT_KINDS.items():
    classify(_kind, "opaque")


@shape.of(*FLOAT_KINDS)
def _shape(view: OpView) -> list[tuple[Shape, str]]:
    return list(shape[FLOAT_KINDS[view.op.kind]](view))


@macs.of(*FLOAT_KINDS)
def _macs(view: OpView) -> int:
    return macs[FLOAT_KINDS[view.op.kind]](view)


def quantize_symmetric(x: Array) -> tuple[Array, np.float32]:
    """(integers in [-127, 127], scale) of all of ``x``."""
    largest = np.float32(np.abs(x).max(initial=0))
    if largest == 0:
        return np.zeros(x.shape, np.int64), np.float32(1)
    steps = round_half_away(x * (np.float32(127) / largest))
    return np.clip(steps, -127, 127).astype(np.int64), largest / np.float32(127)


def quantize_by_range(x: Array) -> tuple[Array, np.float32]:
    """(integers less the zero point of the range, which has 0 in it; scale) of all of ``x``."""
    low, high = min(0.0, float(x.min(initial=0))), max(0.0, float(x.max(initial=0)))
    if low == high:
        return np.zeros(x.shape, np.int64), np.float32(1)
    real = (high - low) / 255
    from_low, from_high = -128 - low / real, 127 - high / real
    is_low_exact = 128 + abs(low / real) < 127 + abs(high / real)
    zero_point = float(np.clip(round_half_away(np.float64(
        from_low if is_low_exact else from_high)), -128, 127))  # fmt: skip
    scale = np.float32(real)
    steps = round_half_away(np.float32(zero_point) + x * (np.float32(1) / scale))
    return np.clip(steps, -128, 127).astype(np.int64) - int(zero_point), scale


@reference.of(*FLOAT_KINDS)
def _hybrid(view: OpView, x: Array, weight: Array, bias: Array | None = None) -> Array:
    p, quant = view.params, view.input(1).quant
    assert quant is not None
    quantize = quantize_symmetric if p.symmetric else quantize_by_range
    channel_scale = np.array(quant.scale, np.float32)
    is_matrix = view.op.kind == "hybrid_fully_connected"
    rows = x.reshape(-1, weight.shape[1]) if is_matrix else x
    wide = weight.astype(np.float64)
    results = []
    for row in rows:
        integers, scale = quantize(row)
        centred = integers.astype(np.float64)[None]
        if is_matrix:
            sums = centred @ wide.T
        elif view.op.kind == "hybrid_conv2d":
            sums = conv2d_sums(centred, wide, p)
        else:
            sums = depthwise_sums(centred, wide, p)
        results.append(sums.astype(np.float32) * channel_scale * scale)
    total = np.concatenate(results).reshape(view.output().shape)
    total = total if bias is None else total + bias
    return np.clip(total, *p.clamp).astype(np.float32)


def row_elements(view: OpView) -> int:
    """How many elements of the input are quantized together."""
    if view.op.kind == "hybrid_fully_connected":
        return view.input(1).shape[1]
    return math.prod(view.input(0).shape[1:])
