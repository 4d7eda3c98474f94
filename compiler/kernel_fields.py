"""Struct members and constants that kernels of several targets are given alike."""

from __future__ import annotations

import numpy as np

from compiler.accumulate import accumulator_scales as accumulator_scales
from compiler.graph import OpView
from compiler.kernels import Field
from compiler.numerics import clamp_limits
from compiler.numerics import quantize_multiplier as quantize_multiplier
from compiler.registry import rounding


def window_fields(view: OpView, kernel_hw: tuple[int, int]) -> dict[str, Field]:
    """``KILN_WINDOW_MEMBERS`` of a convolution or pooling operator, whose output is NHWC too."""
    params = view.params
    batch, input_height, input_width, input_channels = view.input(0).shape
    _, output_height, output_width, output_channels = view.output().shape
    return {
        "batch": batch,
        "input_height": input_height,
        "input_width": input_width,
        "input_channels": input_channels,
        "output_height": output_height,
        "output_width": output_width,
        "output_channels": output_channels,
        "kernel_height": kernel_hw[0],
        "kernel_width": kernel_hw[1],
        "stride_y": params.stride[0],
        "stride_x": params.stride[1],
        "dilation_y": params.dilation[0],
        "dilation_x": params.dilation[1],
        "pad_top": params.padding[0],
        "pad_left": params.padding[2],
    }


def requantize_constants(scales: np.ndarray, numerics: str) -> np.ndarray:
    """What ``kiln_requantize`` reads, from real multipliers per channel (float64)."""
    if numerics == "fast":
        return scales.astype(np.float32)
    pairs = [quantize_multiplier(float(scale)) for scale in scales]
    return np.array(pairs, np.int32).T.copy()


def clamp_fields(view: OpView, clamp: tuple[float, float]) -> dict[str, Field]:
    """``clamp_low`` and ``clamp_high`` in the output's type: real where it is float."""
    output = view.output()
    if output.quant is None:
        low, high = clamp
        return {"clamp_low": float(low), "clamp_high": float(high)}
    low, high = clamp_limits(output, clamp)
    return {"clamp_low": low, "clamp_high": high}


def rounding_field(view: OpView) -> dict[str, Field]:
    """``rounding``: enum kiln_rounding."""
    if view.numerics == "fast":
        return {"rounding": 1}
    return {"rounding": 2 if rounding.get(view.op.kind) == "single" else 0}
