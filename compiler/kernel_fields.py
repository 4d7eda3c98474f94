"""Struct members and constants that kernels of several targets are given alike."""

from __future__ import annotations

import math

import numpy as np

from compiler.graph import OpView
from compiler.kernels import Field


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


def quantize_multiplier(real: float) -> tuple[int, int]:
    """``real`` as int32 mantissa and shift: ``mantissa * 2^(shift - 31)``, shift > 0 is left."""
    if real == 0.0:
        return 0, 0
    fraction, shift = math.frexp(real)
    mantissa = math.floor(fraction * 2**31 + 0.5)
    if mantissa == 2**31:
        mantissa, shift = mantissa // 2, shift + 1
    return (0, 0) if shift < -31 else (mantissa, shift)


def requantize_constants(scales: np.ndarray, numerics: str) -> np.ndarray:
    """What ``kiln_requantize`` reads, from real multipliers per channel (float64)."""
    if numerics == "fast":
        return scales.astype(np.float32)
    pairs = [quantize_multiplier(float(scale)) for scale in scales]
    return np.array(pairs, np.int32).T.copy()


def accumulator_scales(view: OpView, channels: int) -> np.ndarray:
    """Input scale * weight scale / output scale, per output channel, in float64."""
    quant = view.input(1).quant
    assert quant is not None
    weight = np.broadcast_to(np.array(quant.scale, np.float64), (channels,))
    return view.input(0).scale * weight / view.output().scale


def clamp_fields(view: OpView, clamp: tuple[float, float]) -> dict[str, Field]:
    """``clamp_low`` and ``clamp_high`` in the output's type: real where it is float."""
    output = view.output()
    if output.quant is None:
        low, high = clamp
        return {"clamp_low": float(low), "clamp_high": float(high)}
    info = np.iinfo(output.dtype)
    low, high = (
        output.zero_point + math.floor(real / output.scale + 0.5) if math.isfinite(real) else real
        for real in clamp
    )
    return {"clamp_low": int(max(info.min, low)), "clamp_high": int(min(info.max, high))}


def rounding_field(view: OpView) -> dict[str, Field]:
    """``rounding``: enum kiln_rounding."""
    return {"rounding": int(view.numerics == "fast")}
