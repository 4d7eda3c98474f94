"""What normalises along one axis: softmax, its logarithm, division by the norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.fixed_point import (
    bit_length,
    exp_on_negative_values,
    inverse_square_root,
    log_from_one,
    one_over_one_plus,
)
from compiler.graph import OpView, Shape, Tensor
from compiler.numerics import (
    dequantize_array,
    doubling_high_multiply,
    multiply_quantized,
    quantize_array,
    quantize_multiplier,
    rounding_shift_right,
    saturate,
)
from compiler.operators.lookup import int16_tensor, interpolate, interpolation_table
from compiler.registry import classify, params, reference, shape

Array = np.ndarray


@params.of("softmax")
@dataclass(frozen=True)
class SoftmaxParams:
    """exp(beta * x) / sum along ``axis`` (non-negative)."""

    axis: int
    beta: float = 1.0


@params.of("log_softmax")
@dataclass(frozen=True)
class LogSoftmaxParams:
    """log(softmax(x)) along ``axis`` (non-negative)."""

    axis: int


@params.of("l2_normalization")
@dataclass(frozen=True)
class L2NormalizationParams:
    """x / sqrt(sum(x * x)) along the last axis; ``epsilon`` is the least sum of squares."""

    epsilon: float = 1e-12


for _kind in ("softmax", "log_softmax", "l2_normalization"):
    classify(_kind, "reduction")


@shape.of("softmax", "log_softmax", "l2_normalization")
def _same_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(0).shape, view.output().dtype)]


def _holds(tensor: Tensor, scale: float, zero_point: int) -> bool:
    """Whether it has the one quantization for which a fixed-point function is defined."""
    near = math.isclose(tensor.scale, scale, rel_tol=1e-3)
    return near and tensor.zero_point == zero_point


def has_fixed_point(view: OpView) -> bool:
    """Whether TFLite's integer arithmetic applies: one integer type, and the output's scale."""
    x, output = view.input(0), view.output()
    if None in (x.quant, output.quant) or x.dtype != output.dtype:
        return False
    offset = 128 if x.dtype == "uint8" else 0
    if x.dtype == "int16":
        return view.op.kind == "softmax" and _holds(output, 1 / 32768, 0)
    scale, zero_point = {
        "softmax": (1 / 256, -128), "log_softmax": (16 / 256, 127), "l2_normalization": (1 / 128, 0)
    }[view.op.kind]  # fmt: skip
    return _holds(output, scale, zero_point + offset)


def _by_reals(view: OpView, x: Array, function: Callable[[Array], Array]) -> Array:
    source, output = view.input(0), view.output()
    real = dequantize_array(x, source) if source.quant else x.astype(np.float32)
    result = function(real)
    if output.quant is None:
        return result.astype(output.dtype)
    return quantize_array(result, output.scale, output.zero_point, output.dtype)


DIFFERENCE_BITS = 5  # integer bits of the scaled differences to the largest
SUM_BITS = 12  # integer bits of the sum of exponentials


def softmax_constants(scale: float, beta: float = 1.0) -> tuple[int, int, int]:
    """Mantissa, left shift and least difference of TFLite's integer softmax."""
    real = min(beta * scale * (1 << (31 - DIFFERENCE_BITS)), 2.0**31 - 1)
    mantissa, shift = quantize_multiplier(real)
    radius = ((1 << DIFFERENCE_BITS) - 1) * 2.0 ** (31 - DIFFERENCE_BITS) / 2.0**shift
    return mantissa, shift, -math.floor(radius)


def _differences(x: Array, axis: int) -> Array:
    wide = x.astype(np.int64)
    return wide - wide.max(axis=axis, keepdims=True)


@reference.of("softmax")
def _softmax(view: OpView, x: Array) -> Array:
    if has_fixed_point(view):
        return _softmax_16(view, x) if x.dtype == np.int16 else _softmax_8(view, x)

    def function(real: Array) -> Array:
        wide = real * np.float32(view.params.beta)
        exponentials = np.exp(wide - wide.max(axis=view.params.axis, keepdims=True))
        return np.asarray(exponentials / exponentials.sum(axis=view.params.axis, keepdims=True))

    return _by_reals(view, x, function)


def _exponentials(view: OpView, difference: Array, beta: float = 1.0) -> tuple[Array, Array]:
    """(scaled differences, exponentials), the latter 0 where too far from the largest."""
    mantissa, shift, least = softmax_constants(view.input(0).scale, beta)
    scaled = multiply_quantized(difference, mantissa, shift)
    exponentials = exp_on_negative_values(scaled, DIFFERENCE_BITS)
    return scaled, np.where(difference >= least, exponentials, 0)


def _softmax_8(view: OpView, x: Array) -> Array:
    axis, output = view.params.axis, view.output()
    _, exponentials = _exponentials(view, _differences(x, axis), view.params.beta)
    total = rounding_shift_right(exponentials, SUM_BITS).sum(axis=axis, keepdims=True)
    headroom = 32 - bit_length(total)
    reciprocal = one_over_one_plus(((total << headroom) & 0xFFFFFFFF) - (1 << 31))
    product = doubling_high_multiply(reciprocal, exponentials)
    unsaturated = rounding_shift_right(product, SUM_BITS - headroom + 31 - 8)
    return saturate(unsaturated + np.iinfo(output.dtype).min, output.dtype)


LEAST_EXPONENT = -10.0  # of 16-bit softmax: what is less counts as this


def softmax_16_multiplier(scale: float, beta: float) -> tuple[int, int]:
    """From input differences to those in which 65535 is ``LEAST_EXPONENT``."""
    product = np.float32(scale) * np.float32(beta)
    return quantize_multiplier(float(product) / (-LEAST_EXPONENT / 65535))


def softmax_16_tables() -> tuple[Array, Array]:
    """Interpolation tables of exp(x) for x in [-10, 0] and of 1 / (1 + x) for x in [0, 1]."""
    output = int16_tensor(2 / 65535)
    exponential = interpolation_table(
        int16_tensor(-LEAST_EXPONENT / 65535, 32767), output, np.exp, np.float64
    )
    reciprocal = interpolation_table(
        int16_tensor(1 / 65535, -32768), output, lambda x: 1 / (1 + x), np.float64
    )
    return exponential, reciprocal


def _softmax_16(view: OpView, x: Array) -> Array:
    axis = view.params.axis
    exponential_table, reciprocal_table = softmax_16_tables()
    multiplier = softmax_16_multiplier(view.input(0).scale, view.params.beta)
    scaled = multiply_quantized(_differences(x, axis), *multiplier)
    exponentials = interpolate(exponential_table, saturate(scaled + 32767, "int16"))
    total = exponentials.sum(axis=axis, keepdims=True)
    headroom = 32 - bit_length(total)
    position = ((total << (headroom - 1)) + (1 << 13)) >> 14
    reciprocal = interpolate(reciprocal_table, saturate(position - (3 << 15), "int16"))
    shift = 31 - headroom
    result = (exponentials * reciprocal + (np.int64(1) << (shift - 1))) >> shift
    return np.clip(result, 0, 32767).astype(np.int16)


@reference.of("log_softmax")
def _log_softmax(view: OpView, x: Array) -> Array:
    axis, output = view.params.axis, view.output()
    if has_fixed_point(view):
        scaled, exponentials = _exponentials(view, _differences(x, axis))
        total = rounding_shift_right(exponentials, SUM_BITS).sum(axis=axis, keepdims=True)
        logarithm = log_from_one(total, SUM_BITS, DIFFERENCE_BITS)
        value = rounding_shift_right(scaled - logarithm, 31 - DIFFERENCE_BITS - LOG_BITS)
        live = _differences(x, axis) > least_log_difference(view.input(0).scale, logarithm)
        least, most = np.iinfo(output.dtype).min, np.iinfo(output.dtype).max
        return saturate(np.where(live, value + most, least), output.dtype)

    def function(real: Array) -> Array:
        shifted = real - real.max(axis=axis, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))

    return _by_reals(view, x, function)


LOG_BITS = 4  # integer bits of a logarithm in the output


def log_softmax_reverse(scale: float) -> tuple[int, int]:
    """Multiplier from scaled differences back to those of the input."""
    mantissa, shift, _ = softmax_constants(scale)
    return quantize_multiplier((1 << (31 - shift)) / mantissa)


def least_log_difference(scale: float, logarithm: Array) -> Array:
    """A difference must be more than this for its scaled one less ``logarithm`` to fit."""
    least = softmax_constants(scale)[2]
    reverse = multiply_quantized(logarithm - (1 << 31), *log_softmax_reverse(scale))
    return np.maximum(least - 1, reverse)


@reference.of("l2_normalization")
def _l2_normalization(view: OpView, x: Array) -> Array:
    if has_fixed_point(view):
        return _l2_normalization_8(view, x)

    def function(real: Array) -> Array:
        total = (real * real).sum(axis=-1, keepdims=True)
        return np.asarray(real / np.sqrt(np.maximum(total, np.float32(view.params.epsilon))))

    return _by_reals(view, x, function)


UNIT_BITS = 7  # the output integer for 1.0 is 1 << UNIT_BITS


def _l2_normalization_8(view: OpView, x: Array) -> Array:
    """int8 gains the output's bits as it is rescaled, uint8 before that."""
    source, output = view.input(0), view.output()
    centred = x.astype(np.int64) - source.zero_point
    total = (centred * centred).sum(axis=-1, keepdims=True)
    result = np.zeros_like(centred)
    for norm in np.unique(total):
        mantissa, shift = inverse_square_root(int(norm))
        if x.dtype == np.uint8:
            scaled = multiply_quantized(centred << UNIT_BITS, mantissa, shift)
        else:
            scaled = multiply_quantized(centred, mantissa, shift + UNIT_BITS)
        result = np.where(total == norm, scaled, result)
    return saturate(result + output.zero_point, output.dtype)
