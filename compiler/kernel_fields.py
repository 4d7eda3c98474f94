"""Struct members and constants that kernels of several targets are given alike."""

from __future__ import annotations

import numpy as np

from compiler.accumulate import accumulator_rounding
from compiler.accumulate import accumulator_scales as accumulator_scales
from compiler.graph import OpView
from compiler.kernels import Buffer, Constant, Field, Input
from compiler.numerics import clamp_limits
from compiler.numerics import quantize_multiplier as quantize_multiplier


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
    """What ``kiln_requantize`` reads: multipliers then shifts, or scales (``fast``).

    ``scales`` are real multipliers per channel, in float64.
    """
    if numerics == "fast":
        return scales.astype(np.float32)
    pairs = [quantize_multiplier(float(scale)) for scale in scales]
    return np.ascontiguousarray(np.array(pairs, np.int32).T)


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
    return {"rounding": {"double": 0, "single": 2, "wide": 3}[accumulator_rounding(view)]}


def accumulator_dtype(view: OpView) -> str:
    """Of a matrix operator: int64 with 16-bit activations."""
    dtype = view.input(0).dtype
    return dtype if dtype == "float32" else "int64" if dtype == "int16" else "int32"


def can_fold_zero_point(view: OpView) -> bool:
    """Whether weights and bias are known, so that the input's zero point can go into the bias."""
    bias = view.optional(2)
    return view.input(1).is_constant and (bias is None or bias.is_constant)


def quantized_fields(view: OpView, *, folded: bool) -> dict[str, Field]:
    """``KILN_INTEGER_MEMBERS``; the input's zero point is 0 where it is folded."""
    return {
        "input_zero_point": 0 if folded else view.input(0).zero_point,
        "weight_zero_point": view.input(1).zero_point,
        "output_zero_point": view.output().zero_point,
        **clamp_fields(view, view.params.clamp),
        **rounding_field(view),
    }


def bias_buffer(view: OpView, channels: int, channel_axis: int, *, folded: bool) -> Buffer:
    """The bias in the accumulator's type; ``- zero point * sum(weights)`` where it is folded."""
    dtype, bias = accumulator_dtype(view), view.optional(2)
    if folded:
        weight = view.input(1)
        assert weight.data is not None
        others = tuple(axis for axis in range(weight.data.ndim) if axis != channel_axis)
        sums = (weight.data.astype(np.int64) - weight.zero_point).sum(axis=others)
        base = np.int64(0) if bias is None or bias.data is None else bias.data.astype(np.int64)
        return Constant((base - view.input(0).zero_point * sums).astype(dtype), "bias")
    if bias is None:
        return Constant(np.zeros(channels, dtype), "bias")
    if bias.dtype == dtype:
        return Input(2)
    assert bias.data is not None, f"{view.op.name}: a bias of {bias.dtype} that is not constant"
    return Constant(bias.data.astype(dtype), "bias")


def weighted_dtypes_fit(view: OpView) -> bool:
    """Whether the types are those of ``targets/reference/kernels/types/<dtype>.h``."""
    dtype, bias = view.input(0).dtype, view.optional(2)
    return (
        view.input(1).dtype == ("int8" if dtype == "int16" else dtype)
        and view.output().dtype == dtype
        and (bias is None or bias.is_constant or bias.dtype == accumulator_dtype(view))
    )
