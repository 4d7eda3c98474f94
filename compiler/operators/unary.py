"""What unary elementwise operators mean: reals by formula, quantized integers as TFLite does."""

from __future__ import annotations

import math

import numpy as np

from compiler.fixed_point import inverse_square_root
from compiler.graph import OpView
from compiler.numerics import (
    clamp_limits,
    dequantize_array,
    multiply_quantized,
    quantize_array,
    quantize_multiplier,
    rounding_shift_right,
    saturate,
)
from compiler.operators.elementwise import UNARY
from compiler.operators.lookup import Function, apply_function
from compiler.operators.sigmoid import logistic_16, tanh_16
from compiler.registry import reference

Array = np.ndarray

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _sigmoid_in_float32(x: Array) -> Array:
    """As TFLite fills its tables: each step is rounded, which decides where a half is near."""
    exponential = np.exp(-x).astype(np.float32)
    return np.asarray(np.float32(1) / (np.float32(1) + exponential))


#: The function of real numbers. What is given is float32 or wider; so is the result.
FUNCTIONS: dict[str, Function] = {
    "abs": np.abs, "neg": np.negative, "square": np.square, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x, "exp": np.exp,
    "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan, "floor": np.floor,
    "ceil": np.ceil, "round": np.rint, "sign": np.sign, "erf": _erf, "logistic": _sigmoid,
    "tanh": np.tanh, "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "softplus": lambda x: np.logaddexp(x, 0), "softsign": lambda x: x / (1 + np.abs(x)),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)), "silu": lambda x: x * _sigmoid(x),
    "logical_not": np.logical_not, "relu_0_to_1": lambda x: np.clip(x, 0, 1),
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip


def _apply(view: OpView, x: Array, function: Function) -> Array:
    """``function`` of reals, or of integers that stand for reals."""
    source, output = view.input(0), view.output()
    if source.quant is not None and output.quant is not None and source.dtype == output.dtype:
        return apply_function(x, source, output, function)
    real = dequantize_array(x, source) if source.quant else x
    with np.errstate(all="ignore"):
        result = np.asarray(function(real))
    if output.quant is None:
        return result.astype(output.dtype)
    return quantize_array(result, output.scale, output.zero_point, output.dtype)


def _is_integer(view: OpView) -> bool:
    """Whether it is from quantized to quantized, in the same type."""
    source, output = view.input(0), view.output()
    return None not in (source.quant, output.quant) and source.dtype == output.dtype


def _centred(view: OpView, x: Array) -> Array:
    return x.astype(np.int64) - view.input(0).zero_point


def _finish(view: OpView, value: Array) -> Array:
    output = view.output()
    return saturate(value + output.zero_point, output.dtype)


#: Kinds whose quantized meaning is not just that of a table.
_SPECIAL = ("abs", "sqrt", "rsqrt", "log", "logistic", "tanh", "hard_swish")


@reference.of(*(kind for kind in UNARY if kind not in _SPECIAL))
def _unary(view: OpView, x: Array) -> Array:
    return _apply(view, x, FUNCTIONS[view.op.kind])


def float32_ratio(view: OpView, factor: float = 1.0) -> float:
    """Input scale * factor / output scale, multiplied and divided in float32 as TFLite does."""
    product = np.float32(view.input(0).scale) * np.float32(factor)
    return float(product / np.float32(view.output().scale))


@reference.of("abs")
def _abs(view: OpView, x: Array) -> Array:
    if not _is_integer(view):
        return _apply(view, x, np.abs)
    value = np.abs(_centred(view, x))
    if view.input(0).scale != view.output().scale:
        value = multiply_quantized(value, *quantize_multiplier(float32_ratio(view)))
    return _finish(view, value)


@reference.of("sqrt")
def _sqrt(view: OpView, x: Array) -> Array:
    """Quantized: towards zero, not to the nearest; a negative value counts as 0."""
    if not _is_integer(view):
        return _apply(view, x, np.sqrt)
    root = np.sqrt(np.maximum(dequantize_array(x, view.input(0)), 0))
    return _finish(view, np.trunc(root / np.float32(view.output().scale)))


RSQRT_SHIFT = 20  # bits that keep 1 / sqrt(integer) an integer


@reference.of("rsqrt")
def _rsqrt(view: OpView, x: Array) -> Array:
    """Quantized: 0, where it has no value, and what is less, give the largest integer."""
    source, output = view.input(0), view.output()
    if not _is_integer(view):
        return _apply(view, x, FUNCTIONS["rsqrt"])
    largest = float(np.float32(np.iinfo(output.dtype).max) * np.float32(output.scale))
    if x.dtype.itemsize > 1:
        return _apply(view, x, lambda real: np.where(real > 0, 1 / np.sqrt(real), largest))
    root = np.sqrt(np.float32(source.scale)) * np.float32(output.scale)
    mantissa, shift = quantize_multiplier(1 / float(root))
    value = _centred(view, x)
    result = np.full(x.shape, np.iinfo(output.dtype).max, np.int64)
    for integer in np.unique(value[value > 0]):
        factor, left = inverse_square_root(int(integer))
        inverse = multiply_quantized(np.int64(1), factor, left + RSQRT_SHIFT)
        scaled = multiply_quantized(inverse, mantissa, shift - RSQRT_SHIFT)
        result[value == integer] = scaled + output.zero_point
    return saturate(result, output.dtype)


@reference.of("log")
def _log(view: OpView, x: Array) -> Array:
    """Quantized: what is not positive gives the least integer."""
    if not _is_integer(view):
        return _apply(view, x, np.log)
    output = view.output()
    steps = int(np.iinfo(output.dtype).min) - output.zero_point
    least = float(np.float32(steps) * np.float32(output.scale))
    return _apply(view, x, lambda real: np.where(real > 0, np.log(real), least))


@reference.of("logistic", "tanh")
def _s_curve(view: OpView, x: Array) -> Array:
    if _is_integer(view) and x.dtype == np.int16:
        return (logistic_16 if view.op.kind == "logistic" else tanh_16)(view, x)
    if _is_integer(view) and view.op.kind == "logistic":
        return _apply(view, x, _sigmoid_in_float32)
    return _apply(view, x, FUNCTIONS[view.op.kind])


def _high_multiply_16(a: Array, b: int) -> Array:
    """round(a * b / 2^15), ties away from zero, of int16 values, saturated."""
    product = a * b
    total = product + np.where(product >= 0, 1 << 14, 1 - (1 << 14))
    return np.minimum(np.where(total >= 0, total >> 15, -(-total >> 15)), 32767)


def _multiplier_16(real: float) -> tuple[int, int]:
    """``real`` as a 15-bit mantissa and a shift."""
    mantissa, shift = quantize_multiplier(real)
    return min((mantissa + (1 << 15)) >> 16, 32767), shift


@reference.of("hard_swish")
def _hard_swish(view: OpView, x: Array) -> Array:
    """8 bits: x, and relu6(x + 3) / 6, are 16-bit fixed-point numbers whose product is taken."""
    if not _is_integer(view) or x.dtype.itemsize > 1:
        return _apply(view, x, FUNCTIONS["hard_swish"])
    fine_scale = np.float32(1 / 128) * np.float32(view.input(0).scale)
    output_factor, output_shift = _multiplier_16(
        float(fine_scale / np.float32(view.output().scale))
    )
    relu_factor, relu_shift = _multiplier_16(float(fine_scale / np.float32(3 / 32768)))
    fine = _centred(view, x) << 7
    value = _high_multiply_16(fine, output_factor)
    relu = np.clip(fine << max(relu_shift - 1, 0), -32768, 32767)
    relu = _high_multiply_16(relu, relu_factor)
    if relu_shift > 0:
        relu = np.clip(relu << 1, -32768, 32767)
    relu = rounding_shift_right(relu, max(-relu_shift, 0))
    product = value * ((relu + (1 << 15)) >> 1)
    product = np.where(product >= 0, product >> 15, -(-product >> 15))
    return _finish(view, rounding_shift_right(product, max(-output_shift, 0)))


@reference.of("clamp")
def _clamp(view: OpView, x: Array) -> Array:
    p, output = view.params, view.output()
    if output.quant is None:
        return np.clip(x, p.low, p.high).astype(output.dtype)
    mantissa, shift = quantize_multiplier(float32_ratio(view))
    value = multiply_quantized(_centred(view, x), mantissa, shift)
    low, high = clamp_limits(output, (p.low, p.high))
    return np.clip(value + output.zero_point, low, high).astype(output.dtype)


@reference.of("leaky_relu")
def _leaky_relu(view: OpView, x: Array) -> Array:
    alpha = np.float32(view.params.alpha)
    if not _is_integer(view):
        return _apply(view, x, lambda real: np.where(real >= 0, real, alpha * real))
    value = _centred(view, x)
    kept = multiply_quantized(value, *quantize_multiplier(float32_ratio(view)))
    shrunk = multiply_quantized(value, *quantize_multiplier(float32_ratio(view, alpha)))
    return _finish(view, np.where(value >= 0, kept, shrunk))


@reference.of("elu")
def _elu(view: OpView, x: Array) -> Array:
    alpha = np.float32(view.params.alpha)
    return _apply(view, x, lambda real: np.where(real > 0, real, alpha * np.expm1(real)))


@reference.of("gelu")
def _gelu(view: OpView, x: Array) -> Array:
    def function(real: Array) -> Array:
        if view.params.approximate:
            inner = math.sqrt(2 / math.pi) * (real + 0.044715 * real**3)
            return real * 0.5 * (1 + np.tanh(inner))
        half_turned = real.astype(np.float32) * np.float32(-math.sqrt(0.5))
        return real * 0.5 * _erfc(half_turned)

    return _apply(view, x, function)


@reference.of("cast")
def _cast(view: OpView, x: Array) -> Array:
    """Floats go towards zero and saturate, and what is no number becomes 0."""
    dtype = np.dtype(view.params.dtype)
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return x.astype(dtype)
    info = np.iinfo(dtype)
    whole = np.nan_to_num(np.trunc(x.astype(np.float64)), posinf=np.inf, neginf=-np.inf)
    inside = (whole >= info.min) & (whole < float(info.max) + 1)
    limit = np.where(whole < 0, info.min, info.max)
    return np.where(inside, np.where(inside, whole, 0).astype(dtype), limit).astype(dtype)
