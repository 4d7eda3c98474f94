"""Reductions over axes, and what normalises along one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.fixed_point import exp_on_negative_values, one_over_one_plus
from compiler.graph import OpView, Shape
from compiler.numerics import (
    dequantize_array,
    doubling_high_multiply,
    multiply_quantized,
    quantize_array,
    quantize_multiplier,
    rounding_shift_right,
)
from compiler.registry import classify, params, reference, shape

Array = np.ndarray

REDUCTIONS = ("mean", "sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_any", "reduce_all")


@params.of(*REDUCTIONS)
@dataclass(frozen=True)
class ReduceParams:
    """Input x; ``axes`` are non-negative and sorted."""

    axes: tuple[int, ...]
    keep_dims: bool = False


@params.of("arg_max", "arg_min")
@dataclass(frozen=True)
class ArgParams:
    """Index of the first extreme element along ``axis``; output ``dtype`` int32 or int64."""

    axis: int
    keep_dims: bool = False
    dtype: str = "int32"


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

    epsilon: float = 1e-6


for _kind in (*REDUCTIONS, "arg_max", "arg_min", "softmax", "log_softmax", "l2_normalization"):
    classify(_kind, "reduction")


@shape.of(*REDUCTIONS)
def _reduce_shape(view: OpView) -> list[tuple[Shape, str]]:
    p, x = view.params, view.input(0)
    kept = [1 if axis in p.axes else size for axis, size in enumerate(x.shape)]
    if not p.keep_dims:
        kept = [size for axis, size in enumerate(x.shape) if axis not in p.axes]
    return [(tuple(kept), view.output().dtype)]


@shape.of("arg_max", "arg_min")
def _arg_shape(view: OpView) -> list[tuple[Shape, str]]:
    p, x = view.params, list(view.input(0).shape)
    x[p.axis : p.axis + 1] = [1] if p.keep_dims else []
    return [(tuple(x), p.dtype)]


@shape.of("softmax", "log_softmax", "l2_normalization")
def _same_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(0).shape, view.output().dtype)]


@reference.of("mean")
def _mean(view: OpView, x: Array) -> Array:
    p, source, output = view.params, view.input(0), view.output()
    if output.quant is None:
        wide = x.astype(np.float32) if x.dtype.kind == "f" else x.astype(np.int64)
        mean = (
            wide.mean(axis=p.axes, keepdims=p.keep_dims, dtype=wide.dtype)
            if (x.dtype.kind == "f")
            else wide.sum(axis=p.axes, keepdims=p.keep_dims) // _count(view)
        )
        return np.asarray(mean).astype(output.dtype)
    count = _count(view)
    total = x.astype(np.int64).sum(axis=p.axes, keepdims=p.keep_dims) - source.zero_point * count
    mantissa, shift = mean_multiplier(source.scale / output.scale, count)
    value = multiply_quantized(total, mantissa, shift) + output.zero_point
    info = np.iinfo(output.dtype)
    return np.clip(value, info.min, info.max).astype(output.dtype)


def _count(view: OpView) -> int:
    return math.prod(view.input(0).shape[axis] for axis in view.params.axes)


def mean_multiplier(scale: float, count: int) -> tuple[int, int]:
    """Mantissa and shift of scale / count as TFLite's integer mean makes them."""
    mantissa, shift = quantize_multiplier(scale)
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    return (mantissa << extra) // count, shift - extra


@reference.of("sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_any", "reduce_all")
def _reduce(view: OpView, x: Array) -> Array:
    p = view.params
    functions: dict[str, Callable[..., Array]] = {
        "sum": np.sum,
        "reduce_max": np.max,
        "reduce_min": np.min,
        "reduce_prod": np.prod,
        "reduce_any": np.any,
        "reduce_all": np.all,
    }
    result = functions[view.op.kind](x, axis=p.axes, keepdims=p.keep_dims)
    return np.asarray(result).astype(view.output().dtype)


@reference.of("arg_max", "arg_min")
def _arg(view: OpView, x: Array) -> Array:
    function = np.argmax if view.op.kind == "arg_max" else np.argmin
    return function(x, axis=view.params.axis, keepdims=view.params.keep_dims).astype(
        view.params.dtype
    )


SOFTMAX_INTEGER_BITS = 5  # of the scaled differences
SOFTMAX_SUM_BITS = 12  # integer bits of the sum of exponentials


def softmax_constants(scale: float, beta: float) -> tuple[int, int, int]:
    """Mantissa, left shift and least difference of TFLite's integer softmax."""
    real = min(beta * scale * (1 << (31 - SOFTMAX_INTEGER_BITS)), 2.0**31 - 1)
    mantissa, shift = quantize_multiplier(real)
    radius = ((1 << SOFTMAX_INTEGER_BITS) - 1) * 2.0 ** (31 - SOFTMAX_INTEGER_BITS) / 2.0**shift
    return mantissa, shift, -math.floor(radius)


@reference.of("softmax")
def _softmax(view: OpView, x: Array) -> Array:
    p, output = view.params, view.output()
    if output.quant is None:
        wide = x.astype(np.float32) * np.float32(p.beta)
        exponentials = np.exp(wide - wide.max(axis=p.axis, keepdims=True))
        total = exponentials.sum(axis=p.axis, keepdims=True)
        return (exponentials / total).astype(output.dtype)
    mantissa, shift, least = softmax_constants(view.input(0).scale, p.beta)
    difference = x.astype(np.int64)
    difference = difference - difference.max(axis=p.axis, keepdims=True)
    scaled = multiply_quantized(difference, mantissa, shift)
    exponentials = exp_on_negative_values(scaled, SOFTMAX_INTEGER_BITS)
    live = difference >= least
    terms = np.where(live, rounding_shift_right(exponentials, SOFTMAX_SUM_BITS), 0)
    total = terms.sum(axis=p.axis, keepdims=True)
    headroom = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
    over_unit = SOFTMAX_SUM_BITS - headroom
    shifted = ((total << headroom) & 0xFFFFFFFF) - (1 << 31)
    reciprocal = one_over_one_plus(shifted)
    product = doubling_high_multiply(reciprocal, exponentials)
    unsaturated = rounding_shift_right(product, over_unit + 31 - 8)
    info = np.iinfo(output.dtype)
    result = np.clip(unsaturated + info.min, info.min, info.max)
    return np.where(live, result, info.min).astype(output.dtype)


@reference.of("log_softmax")
def _log_softmax(view: OpView, x: Array) -> Array:
    real = dequantize_array(x, view.input(0)) if view.input(0).quant else x.astype(np.float32)
    axis, output = view.params.axis, view.output()
    shifted = real - real.max(axis=axis, keepdims=True)
    result = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    if output.quant is None:
        return result.astype(output.dtype)
    return quantize_array(result, output.scale, output.zero_point, output.dtype)


@reference.of("l2_normalization")
def _l2_normalization(view: OpView, x: Array) -> Array:
    real = dequantize_array(x, view.input(0)) if view.input(0).quant else x.astype(np.float32)
    output = view.output()
    total = (real * real).sum(axis=-1, keepdims=True)
    result = real / np.sqrt(np.maximum(total, np.float32(view.params.epsilon)))
    if output.quant is None:
        return result.astype(output.dtype)
    return quantize_array(result, output.scale, output.zero_point, output.dtype)
