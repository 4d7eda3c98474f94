"""Integer arithmetic of both numerics profiles, on numpy arrays; "Numerics" in DESIGN.md.

Every function is exact: the C kernels compute the same integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from compiler.graph import Tensor

Array = np.ndarray


def quantize_multiplier(real: float) -> tuple[int, int]:
    """``real`` as int32 mantissa and shift: ``mantissa * 2^(shift - 31)``, shift > 0 is left.

    As TFLite's QuantizeMultiplier: rounded half up, 0 below 2^-32.
    """
    if real == 0.0:
        return 0, 0
    fraction, shift = math.frexp(real)
    mantissa = math.floor(fraction * 2**31 + 0.5)
    if mantissa == 2**31:
        mantissa, shift = mantissa // 2, shift + 1
    return (0, 0) if shift < -31 else (mantissa, shift)


def quantize_multipliers(reals: Sequence[float] | Array) -> tuple[Array, Array]:
    """Mantissas and shifts (int64) of several, in the shape of ``reals``."""
    exact = np.asarray(reals, np.float64)
    pairs = [quantize_multiplier(float(real)) for real in exact.ravel()]
    mantissas, shifts = np.array(pairs, np.int64).reshape(*exact.shape, 2).T
    return mantissas.T, shifts.T


def doubling_high_multiply(a: Array, b: Array | int) -> Array:
    """round(a * b / 2^31), ties upwards, saturated, of int32 values in int64 arrays."""
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    nudge = np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    total = product + nudge
    # C's division truncates towards zero; numpy's shift rounds down.
    return np.minimum(np.where(total >= 0, total >> 31, -(-total >> 31)), 2**31 - 1)


def rounding_shift_right(value: Array, exponent: Array | int) -> Array:
    """value / 2^exponent, ties away from zero."""
    exponent = np.asarray(exponent, np.int64)
    mask = (np.int64(1) << exponent) - 1
    threshold = (mask >> 1) + (value < 0)
    return (value >> exponent) + ((value & mask) > threshold)


def wrap_int32(value: Array) -> Array:
    """The value that an int32 keeps of it, still in int64."""
    return np.asarray(value, np.int64).astype(np.int32).astype(np.int64)


def multiply_quantized(value: Array, mantissa: Array | int, shift: Array | int) -> Array:
    """value * mantissa * 2^(shift - 31) with TFLite's two roundings; all in int64 arrays."""
    shift = np.asarray(shift, np.int64)
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    shifted = wrap_int32(np.asarray(value, np.int64) << left)
    return rounding_shift_right(doubling_high_multiply(shifted, mantissa), right)


def multiply_single(value: Array, mantissa: Array | int, shift: Array | int) -> Array:
    """value * mantissa * 2^(shift - 31), rounded once, half up; shift <= 15, 48-bit values.

    The product may need 79 bits, so it is taken in two parts, of the upper bits of the value and
    of its last 16.
    """
    right = 31 - np.asarray(shift, np.int64)
    value, mantissa = np.asarray(value, np.int64), np.asarray(mantissa, np.int64)
    low = (value & 0xFFFF) * mantissa + (np.int64(1) << (right - 1))
    return wrap_int32(((value >> 16) * mantissa + (low >> 16)) >> (right - 16))


def multiply_wide(value: Array, mantissa: Array | int, shift: Array | int) -> Array:
    """value * mantissa * 2^(shift - 31) for 48-bit values: a 16-bit mantissa, rounded half up."""
    whole = np.asarray(mantissa, np.int64)
    reduced = np.where(whole < 0x7FFF0000, (whole + (1 << 15)) >> 16, 0x7FFF)
    right = 15 - np.asarray(shift, np.int64)
    product = np.asarray(value, np.int64) * reduced
    return wrap_int32((product + (np.int64(1) << (right - 1))) >> right)


#: How an accumulator is multiplied in numerics ``tflite``, by the operator's rounding.
MULTIPLY = {"double": multiply_quantized, "single": multiply_single, "wide": multiply_wide}


def clamp_limits(tensor: Tensor, clamp: tuple[float, float]) -> tuple[int, int]:
    """The integers of ``tensor`` that a clamp in real units allows, as TFLite computes them."""
    info = np.iinfo(tensor.dtype)
    scale, zero = np.float32(tensor.scale), tensor.zero_point
    limits = []
    for real, open_end in zip(clamp, (info.min, info.max), strict=True):
        if math.isinf(real):
            limits.append(int(open_end))
        else:
            limits.append(zero + int(round_half_away(np.float32(real) / scale)))
    return max(int(info.min), limits[0]), min(int(info.max), limits[1])


def round_half_away(value: Array | np.floating) -> Array:
    """C's round: to the nearest integer, ties away from zero. float64 out, exact for float32."""
    exact = np.asarray(value, np.float64)
    return np.copysign(np.floor(np.abs(exact) + 0.5), exact)


def divide_half_away(total: Array, count: Array | int) -> Array:
    """total / count to the nearest integer, ties away from zero; count > 0."""
    magnitude = (np.abs(total) + np.asarray(count) // 2) // count
    return np.where(total >= 0, magnitude, -magnitude)


def requantize(
    accumulator: Array,
    scales: Array,
    output: Tensor,
    clamp: tuple[float, float],
    numerics: str,
    *,
    rounding: str = "double",
) -> Array:
    """An accumulator (channels last) as integers of ``output``; ``scales`` real, per channel.

    ``rounding``, for numerics ``tflite``: "double", "single" or "wide".
    """
    low, high = clamp_limits(output, clamp)
    if numerics == "fast":
        product = accumulator.astype(np.float32) * scales.astype(np.float32)
        value = np.rint(np.clip(product, np.float32(low - output.zero_point),
                                np.float32(high - output.zero_point))).astype(np.int64)  # fmt: skip
    else:
        mantissa, shift = quantize_multipliers(scales)
        value = MULTIPLY[rounding](accumulator, mantissa, shift)
    return np.clip(value + output.zero_point, low, high).astype(output.dtype)


def saturate(value: Array, dtype: str | np.dtype) -> Array:
    """Whole numbers as ``dtype``, those outside as its nearest; what is no number becomes 0."""
    info = np.iinfo(dtype)
    return np.asarray(np.clip(np.nan_to_num(value), info.min, info.max)).astype(dtype)


def quantize_array(real: Array, scale: float, zero_point: int, dtype: str) -> Array:
    """Integers nearest to ``real`` (ties away from zero), saturated to ``dtype``."""
    steps = round_half_away(np.asarray(real, np.float32) / np.float32(scale)) + zero_point
    return saturate(steps, dtype)


def dequantize_array(values: Array, tensor: Tensor) -> Array:
    """float32 reals of the integers ``values`` of ``tensor``, per channel where it is so."""
    assert tensor.quant is not None
    scale = np.array(tensor.quant.scale, np.float32)
    zero = np.array(tensor.quant.zero_point, np.int64)
    shape = [1] * values.ndim  # none for a scalar, which stays one
    if tensor.quant.axis is not None and tensor.quant.per_channel:
        shape[tensor.quant.axis] = -1
    scale, zero = scale.reshape(shape), zero.reshape(shape)
    return ((values.astype(np.int64) - zero).astype(np.float32) * scale).astype(np.float32)
