"""From a range of real numbers to scale and zero point, and from arrays to integers."""

from __future__ import annotations

import math

import numpy as np

from compiler.graph import Quantization, Tensor
from compiler.numerics import quantize_array

INT8_MIN, INT8_MAX = -128, 127
LIMITS = {"int8": (INT8_MIN, INT8_MAX), "int16": (-32768, 32767)}
WEIGHT_MAX = 127  # weights are symmetric: -128 is not used

#: Bias integers stay below this, so that an int32 accumulator has room for the products.
BIAS_LIMIT = 2**30

#: The bias of 16-bit activations has 64 bits; TFLite's kernels add no more than 48.
WIDE_BIAS_LIMIT = 2**46

Range = tuple[float, float]


def activation_quantization(low: float, high: float, dtype: str = "int8") -> Quantization:
    """int8 over [low, high], widened to hold 0, which is represented exactly; int16 is symmetric,
    as TFLite's 16x8 specification wants it."""
    low, high = min(low, 0.0), max(high, 0.0)
    span = high - low
    if not math.isfinite(span) or span <= np.finfo(np.float32).tiny * 65536:
        low, high, span = 0.0, 1.0, 1.0
    least, most = LIMITS[dtype]
    if dtype == "int16":
        return Quantization((float(np.float32(max(-low, high) / most)),), (0,))
    scale = float(np.float32(span / (most - least)))
    zero_point = round(least - low / scale)
    return Quantization((scale,), (min(max(zero_point, least), most),))


def quantized_constant(tensor: Tensor, quant: Quantization, dtype: str) -> np.ndarray:
    """Integers of a float constant, with one scale."""
    assert tensor.data is not None
    return quantize_array(tensor.data, quant.scale[0], quant.zero_point[0], dtype)


def channel_scales(weight: np.ndarray, axis: int) -> np.ndarray:
    """Symmetric scales (float64, per channel along ``axis``) that reach the largest weight."""
    others = tuple(i for i in range(weight.ndim) if i != axis)
    return np.asarray(np.abs(weight.astype(np.float64)).max(axis=others) / WEIGHT_MAX)


def scales_for_bias(
    scales: np.ndarray, bias: np.ndarray | None, input_scale: float, limit: int = BIAS_LIMIT
) -> np.ndarray:
    """``scales``, raised where the bias would pass ``limit`` in units of input * weight."""
    least = np.full_like(scales, np.finfo(np.float32).tiny)
    if bias is not None:
        least = np.maximum(least, np.abs(bias.astype(np.float64)) / (input_scale * limit))
    dead = np.where(scales == 0, 1.0 / WEIGHT_MAX, scales)  # a channel of zeros
    return np.asarray(np.maximum(dead, least), np.float32).astype(np.float64)


def quantized_weight(weight: Tensor, scales: np.ndarray, axis: int) -> Tensor:
    """int8 weight in [-127, 127], one scale per channel along ``axis``."""
    assert weight.data is not None
    shape = [-1 if i == axis else 1 for i in range(weight.data.ndim)]
    steps = np.rint(weight.data / scales.reshape(shape))
    data = np.clip(steps, -WEIGHT_MAX, WEIGHT_MAX).astype(np.int8)
    quant = Quantization(tuple(map(float, scales)), (0,) * len(scales), axis)
    return Tensor(weight.name, weight.shape, "int8", quant, data)


def quantized_bias(
    bias: Tensor, scales: np.ndarray, input_scale: float, dtype: str = "int32"
) -> Tensor:
    """Integer bias with scale input * weight, per channel."""
    assert bias.data is not None
    products = input_scale * scales
    data = np.rint(bias.data.astype(np.float64) / products).astype(dtype)
    quant = Quantization(tuple(map(float, products)), (0,) * len(products), 0)
    return Tensor(bias.name, bias.shape, dtype, quant, data)
