"""From operands to accumulators and from those to outputs, for products of any shape."""

from __future__ import annotations

import numpy as np

from compiler.graph import OpView, Tensor
from compiler.numerics import requantize
from compiler.registry import rounding

Array = np.ndarray


def centred(values: Array, tensor: Tensor) -> Array:
    """Reals in float32; integers less their zero point in float64, whose sums stay exact."""
    if tensor.quant is None:
        return values.astype(np.float32 if values.dtype.kind == "f" else np.float64)
    return values.astype(np.float64) - tensor.zero_point


def check_channels(view: OpView, axis: int, depths_fit: bool) -> None:
    """Raises ValueError unless weights, with channels along ``axis``, fit the input and bias."""
    weight, bias = view.input(1), view.optional(2)
    if not depths_fit:
        raise ValueError(f"weights {list(weight.shape)} are for another number of channels")
    if bias is not None and bias.shape != (weight.shape[axis],):
        raise ValueError(f"the bias has shape {list(bias.shape)}, not [{weight.shape[axis]}]")
    if weight.quant is not None and weight.quant.per_channel and weight.quant.axis != axis:
        raise ValueError(f"scales of the weights are along axis {weight.quant.axis}, not {axis}")


def accumulator_scales(view: OpView, channels: int) -> Array:
    """Input scale * weight scale / output scale in float64, (channels,)."""
    quant = view.input(1).quant
    assert quant is not None
    scales = view.input(0).scale * np.array(quant.scale, np.float64) / view.output().scale
    return np.broadcast_to(scales, (channels,))


def finish_accumulator(view: OpView, accumulator: Array, bias: Array | None) -> Array:
    """Add the bias (along the last axis) and become what the output tensor holds.

    ``accumulator`` is float64 holding exact integers where the output is quantized.
    """
    output = view.output()
    if output.quant is None:
        total = accumulator if bias is None else accumulator + bias
        low, high = view.params.clamp
        return np.clip(total, low, high).astype(output.dtype)
    total = accumulator.astype(np.int64)
    if bias is not None:
        total = total + bias.astype(np.int64)
    scales = accumulator_scales(view, total.shape[-1])
    mode = accumulator_rounding(view)
    return requantize(total, scales, output, view.params.clamp, view.numerics, rounding=mode)


def accumulator_rounding(view: OpView) -> str:
    """How numerics ``tflite`` rounds an accumulator plus bias: "double", "single" or "wide".

    16-bit activations have 64-bit accumulators, unless the bias has 32 bits.
    """
    declared = rounding.get(view.op.kind) or "double"
    bias = view.optional(2)
    is_wide = view.input(0).dtype == "int16" and (bias is None or bias.dtype == "int64")
    return "wide" if is_wide and declared == "double" else declared
