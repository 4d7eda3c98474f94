"""Elementwise operators: unary, and binary with numpy broadcasting."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.graph import NO_CLAMP, OpView, Shape
from compiler.numerics import (
    clamp_limits,
    dequantize_array,
    multiply_quantized,
    quantize_array,
    quantize_multiplier,
    requantize,
)
from compiler.registry import classify, params, reference, shape

Array = np.ndarray

UNARY = (
    "abs", "neg", "square", "sqrt", "rsqrt", "reciprocal", "exp", "log", "sin", "cos", "tan",
    "floor", "ceil", "round", "sign", "erf", "logistic", "tanh", "hard_swish", "hard_sigmoid",
    "softplus", "softsign", "mish", "silu", "logical_not", "relu_0_to_1",
)  # fmt: skip
ARITHMETIC = ("add", "sub", "mul", "div")
BINARY = (
    "maximum", "minimum", "pow", "squared_difference", "floor_div", "floor_mod", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
    "logical_xor",
)  # fmt: skip


@params.of(*UNARY)
@dataclass(frozen=True)
class UnaryParams:
    """Input x; output of the same shape. Quantized: x dequantized, computed, requantized."""


@params.of(*ARITHMETIC)
@dataclass(frozen=True)
class ArithmeticParams:
    """Inputs a and b, broadcast; the result is clamped (real units)."""

    clamp: tuple[float, float] = NO_CLAMP


@params.of(*BINARY)
@dataclass(frozen=True)
class BinaryParams:
    """Inputs a and b, broadcast. Comparisons give bool."""


@params.of("clamp")
@dataclass(frozen=True)
class ClampParams:
    """ReLU, ReLU6, Clip: x limited to [low, high], in real units."""

    low: float
    high: float


@params.of("leaky_relu")
@dataclass(frozen=True)
class LeakyReluParams:
    """x where x >= 0, else alpha * x."""

    alpha: float


@params.of("elu")
@dataclass(frozen=True)
class EluParams:
    """x where x > 0, else alpha * (exp(x) - 1)."""

    alpha: float = 1.0


@params.of("gelu")
@dataclass(frozen=True)
class GeluParams:
    """x * Phi(x); with ``approximate`` by the tanh formula."""

    approximate: bool = False


@params.of("prelu")
@dataclass(frozen=True)
class PreluParams:
    """Inputs x and slope, broadcast: x where x >= 0, else slope * x."""


@params.of("select")
@dataclass(frozen=True)
class SelectParams:
    """Inputs condition (bool), a, b, broadcast: a where the condition holds, else b."""


@params.of("cast")
@dataclass(frozen=True)
class CastParams:
    """x converted to ``dtype`` (towards zero from float to integer)."""

    dtype: str


for _kind in (*UNARY, "clamp", "leaky_relu", "elu", "gelu", "cast"):
    classify(_kind, "elementwise")
for _kind in (*ARITHMETIC, *BINARY, "prelu", "select"):
    classify(_kind, "broadcast")


@shape.of(*UNARY, "clamp", "leaky_relu", "elu", "gelu", "cast")
def _unary_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(0).shape, view.output().dtype)]


@shape.of(*ARITHMETIC, *BINARY, "prelu", "select")
def _broadcast_shape(view: OpView) -> list[tuple[Shape, str]]:
    shapes = [tensor.shape for tensor in view.inputs if tensor is not None]
    return [(np.broadcast_shapes(*shapes), view.output().dtype)]


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


_erf = np.vectorize(math.erf, otypes=[np.float64])

UNARY_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs, "neg": np.negative, "square": np.square, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x, "exp": np.exp,
    "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan, "floor": np.floor,
    "ceil": np.ceil, "round": np.rint, "sign": np.sign, "erf": _erf, "logistic": _sigmoid,
    "tanh": np.tanh, "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "softplus": lambda x: np.logaddexp(x, 0), "softsign": lambda x: x / (1 + np.abs(x)),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)), "silu": lambda x: x * _sigmoid(x),
    "logical_not": np.logical_not, "relu_0_to_1": lambda x: np.clip(x, 0, 1),
}  # fmt: skip


def apply_real(view: OpView, x: Array, function: Callable[[Array], Array]) -> Array:
    """``function`` on the real values of ``x``, as what the output tensor holds."""
    source, output = view.input(0), view.output()
    real = dequantize_array(x, source) if source.quant else x
    with np.errstate(all="ignore"):
        result = function(real)
    if output.quant is None:
        return np.asarray(result).astype(output.dtype)
    return quantize_array(result, output.scale, output.zero_point, output.dtype)


@reference.of(*UNARY)
def _unary(view: OpView, x: Array) -> Array:
    return apply_real(view, x, UNARY_FUNCTIONS[view.op.kind])


@reference.of("clamp")
def _clamp(view: OpView, x: Array) -> Array:
    p, source, output = view.params, view.input(0), view.output()
    if output.quant is None:
        return np.clip(x, p.low, p.high).astype(output.dtype)
    # TFLite divides the scales in float32 here.
    ratio = float(np.float32(source.scale) / np.float32(output.scale))
    mantissa, shift = quantize_multiplier(ratio)
    value = multiply_quantized(x.astype(np.int64) - source.zero_point, mantissa, shift)
    low, high = clamp_limits(output, (p.low, p.high))
    return np.clip(value + output.zero_point, low, high).astype(output.dtype)


@reference.of("leaky_relu")
def _leaky_relu(view: OpView, x: Array) -> Array:
    alpha = np.float32(view.params.alpha)
    return apply_real(view, x, lambda real: np.where(real >= 0, real, alpha * real))


@reference.of("elu")
def _elu(view: OpView, x: Array) -> Array:
    alpha = np.float32(view.params.alpha)
    return apply_real(view, x, lambda real: np.where(real > 0, real, alpha * np.expm1(real)))


@reference.of("gelu")
def _gelu(view: OpView, x: Array) -> Array:
    def function(real: Array) -> Array:
        if view.params.approximate:
            inner = math.sqrt(2 / math.pi) * (real + 0.044715 * real**3)
            return real * 0.5 * (1 + np.tanh(inner))
        return real * 0.5 * (1 + _erf(real / math.sqrt(2)))

    return apply_real(view, x, function)


@reference.of("cast")
def _cast(view: OpView, x: Array) -> Array:
    return x.astype(view.params.dtype)


def add_left_shift(view: OpView) -> int:
    """Bits that quantized addition gains before it scales its operands."""
    return 15 if view.output().dtype == "int16" else 20


def add_multipliers(view: OpView) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """(mantissa, shift) of both operands and of the sum, in TFLite's quantized addition."""
    a, b, output = view.input(0).scale, view.input(1).scale, view.output().scale
    twice_largest = 2 * max(a, b)
    return (
        quantize_multiplier(a / twice_largest),
        quantize_multiplier(b / twice_largest),
        quantize_multiplier(twice_largest / ((1 << add_left_shift(view)) * output)),
    )


def _store(view: OpView, value: Array) -> Array:
    """An integer result less its zero point, clamped into the output tensor."""
    output = view.output()
    low, high = clamp_limits(output, view.params.clamp)
    return np.clip(value + output.zero_point, low, high).astype(output.dtype)


@reference.of("add", "sub")
def _add(view: OpView, a: Array, b: Array) -> Array:
    """Quantized, ``fast``: rint((a - za) * (sa / so) + (b - zb) * (sb / so)), in float32."""
    sign = 1 if view.op.kind == "add" else -1
    output = view.output()
    if output.quant is None:
        result = a + b if sign > 0 else a - b
        return _clamp_real(view, result)
    left = a.astype(np.int64) - view.input(0).zero_point
    right = b.astype(np.int64) - view.input(1).zero_point
    if view.numerics == "fast":
        scale_a = np.float32(view.input(0).scale / output.scale)
        scale_b = np.float32(sign * view.input(1).scale / output.scale)
        total = left.astype(np.float32) * scale_a + right.astype(np.float32) * scale_b
        return _store(view, np.rint(total).astype(np.int64))
    first, second, last = add_multipliers(view)
    total = multiply_quantized(left << add_left_shift(view), *first)
    total = total + sign * multiply_quantized(right << add_left_shift(view), *second)
    return _store(view, multiply_quantized(total, *last))


@reference.of("mul")
def _mul(view: OpView, a: Array, b: Array) -> Array:
    output = view.output()
    if output.quant is None:
        return _clamp_real(view, a * b)
    product = (a.astype(np.int64) - view.input(0).zero_point) * (
        b.astype(np.int64) - view.input(1).zero_point
    )
    return requantized(view, product)


def product_scale(view: OpView) -> float:
    """a's scale * b's scale / output scale, in float32 as TFLite multiplies it."""
    a, b, output = (np.float32(t.scale) for t in (view.input(0), view.input(1), view.output()))
    return float(a * b / output)


def requantized(view: OpView, product: Array) -> Array:
    output = view.output()
    scales = np.array([product_scale(view)])
    return requantize(product, scales, output, view.params.clamp, view.numerics)


@reference.of("div")
def _div(view: OpView, a: Array, b: Array) -> Array:
    if view.output().quant is None and a.dtype.kind in "iu":
        return _clamp_real(view, np.trunc(a / b))
    quotient = _by_reals(view, np.divide, a, b)
    if view.output().quant is None:
        return _clamp_real(view, quotient)
    limits = clamp_limits(view.output(), view.params.clamp)
    return np.clip(quotient, *limits).astype(quotient.dtype)


def _clamp_real(view: OpView, result: Array) -> Array:
    low, high = view.params.clamp
    if (low, high) == NO_CLAMP:
        return np.asarray(result).astype(view.output().dtype)
    return np.clip(result, low, high).astype(view.output().dtype)


def _by_reals(view: OpView, function: Callable[..., Array], a: Array, b: Array) -> Array:
    """A binary function of the real values, as what the output tensor holds."""
    x, y = view.input(0), view.input(1)
    left = dequantize_array(a, x) if x.quant else a
    right = dequantize_array(b, y) if y.quant else b
    output = view.output()
    with np.errstate(all="ignore"):
        result = function(left, right)
    if output.quant is None:
        return np.asarray(result).astype(output.dtype)
    return quantize_array(result, output.scale, output.zero_point, output.dtype)


BINARY_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "maximum": np.maximum, "minimum": np.minimum, "pow": np.power,
    "squared_difference": lambda a, b: (a - b) * (a - b), "floor_div": np.floor_divide,
    "floor_mod": np.mod, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
    "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
}  # fmt: skip


@reference.of(*BINARY)
def _binary(view: OpView, a: Array, b: Array) -> Array:
    return _by_reals(view, BINARY_FUNCTIONS[view.op.kind], a, b)


@reference.of("prelu")
def _prelu(view: OpView, x: Array, slope: Array) -> Array:
    return _by_reals(view, lambda a, b: np.where(a >= 0, a, a * b), x, slope)


@reference.of("select")
def _select(view: OpView, condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition, a, b).astype(view.output().dtype)
