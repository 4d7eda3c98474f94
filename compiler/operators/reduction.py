"""Reductions over axes, and the search for an extreme along one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.numerics import multiply_quantized, multiply_wide, quantize_multiplier, saturate
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


for _kind in (*REDUCTIONS, "arg_max", "arg_min"):
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


@reference.of("mean")
def _mean(view: OpView, x: Array) -> Array:
    """Integers that stand for themselves: towards zero."""
    p, output = view.params, view.output()
    if output.quant is not None:
        return _quantized_sum(view, x, _count(view))
    if x.dtype.kind == "f":
        mean = np.mean(x, axis=p.axes, keepdims=p.keep_dims, dtype=np.float32)
        return np.asarray(mean).astype(output.dtype)
    total = np.asarray(np.sum(x.astype(np.int64), axis=p.axes, keepdims=p.keep_dims))
    magnitude = np.abs(total) // _count(view)
    return np.where(total < 0, -magnitude, magnitude).astype(output.dtype)


def _count(view: OpView) -> int:
    """How many elements become one."""
    return math.prod(view.input(0).shape[axis] for axis in view.params.axes)


def mean_multiplier(scale: float, count: int) -> tuple[int, int]:
    """Mantissa and shift of scale / count as TFLite's integer mean makes them."""
    mantissa, shift = quantize_multiplier(scale)
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    return (mantissa << extra) // count, shift - extra


def _quantized_sum(view: OpView, x: Array, divisor: int) -> Array:
    """The sum over ``divisor``, rescaled once."""
    p, source, output = view.params, view.input(0), view.output()
    total = x.astype(np.int64).sum(axis=p.axes, keepdims=p.keep_dims)
    total = np.asarray(total) - source.zero_point * _count(view)
    multiplier = mean_multiplier(source.scale / output.scale, divisor)
    return saturate(multiply_quantized(total, *multiplier) + output.zero_point, output.dtype)


def _quantized_product(view: OpView, x: Array) -> Array:
    """Rescaled after every factor, so that nothing overflows, in the order of memory."""
    p, source, output, count = view.params, view.input(0), view.output(), _count(view)
    multiplier = quantize_multiplier(source.scale / output.scale ** (1 / count))
    kept = [axis for axis in range(x.ndim) if axis not in p.axes]
    factors = x.transpose(*kept, *p.axes).reshape(-1, count).astype(np.int64) - source.zero_point
    product = factors[:, 0]
    for index in range(1, count):
        product = multiply_wide(product * factors[:, index], *multiplier)
    result = multiply_wide(product, *multiplier) + output.zero_point
    return saturate(result, output.dtype).reshape(output.shape)


REDUCERS: dict[str, Callable[..., Array]] = {
    "sum": np.sum, "reduce_max": np.max, "reduce_min": np.min, "reduce_prod": np.prod,
    "reduce_any": np.any, "reduce_all": np.all,
}  # fmt: skip


@reference.of("sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_any", "reduce_all")
def _reduce(view: OpView, x: Array) -> Array:
    kind, p = view.op.kind, view.params
    if view.output().quant is not None and kind == "sum":
        return _quantized_sum(view, x, 1)
    if view.output().quant is not None and kind == "reduce_prod":
        return _quantized_product(view, x)
    result = REDUCERS[kind](x, axis=p.axes, keepdims=p.keep_dims)
    return np.asarray(result).astype(view.output().dtype)


@reference.of("arg_max", "arg_min")
def _arg(view: OpView, x: Array) -> Array:
    function = np.argmax if view.op.kind == "arg_max" else np.argmin
    return function(x, axis=view.params.axis, keepdims=view.params.keep_dims).astype(
        view.params.dtype
    )
