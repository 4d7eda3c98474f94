"""What binary elementwise operators mean: reals by formula, quantized integers as TFLite does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from compiler.fixed_point import reciprocal
from compiler.graph import NO_CLAMP, OpView
from compiler.numerics import (
    clamp_limits,
    dequantize_array,
    doubling_high_multiply,
    multiply_quantized,
    quantize_array,
    quantize_multiplier,
    requantize,
    rounding_shift_right,
)
from compiler.operators.elementwise import BINARY
from compiler.registry import reference

Array = np.ndarray
Multiplier = tuple[int, int]  # mantissa and shift

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")

FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "maximum": np.maximum, "minimum": np.minimum, "pow": np.power,
    "squared_difference": lambda a, b: (a - b) * (a - b), "floor_div": np.floor_divide,
    "floor_mod": np.mod, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
    "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "truncated_mod": np.fmod, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor, "shift_left": np.left_shift, "shift_right": np.right_shift,
}  # fmt: skip


def is_quantized(view: OpView) -> bool:
    """Whether both operands are, in one type, and so is the output unless it is bool."""
    a, b, output = view.input(0), view.input(1), view.output()
    if a.quant is None or b.quant is None or a.dtype != b.dtype:
        return False
    return output.dtype == "bool" or (output.quant is not None and output.dtype == a.dtype)


def centred_operands(view: OpView, a: Array, b: Array) -> tuple[Array, Array]:
    """Both less their zero points, in int64."""
    zero_a, zero_b = view.input(0).zero_point, view.input(1).zero_point
    return a.astype(np.int64) - zero_a, b.astype(np.int64) - zero_b


def float32_scales(view: OpView) -> tuple[np.float32, np.float32, np.float32]:
    """Scales of both operands and of the output; TFLite multiplies them in float32."""
    a, b, output = (np.float32(t.scale) for t in (view.input(0), view.input(1), view.output()))
    return a, b, output


def _store(view: OpView, value: Array) -> Array:
    """An integer result less its zero point, clamped into the output tensor."""
    output = view.output()
    low, high = clamp_limits(output, getattr(view.params, "clamp", NO_CLAMP))
    return np.clip(value + output.zero_point, low, high).astype(output.dtype)


def _store_real(view: OpView, result: Array) -> Array:
    low, high = view.params.clamp
    if (low, high) == NO_CLAMP:
        return np.asarray(result).astype(view.output().dtype)
    return np.clip(result, low, high).astype(view.output().dtype)


def add_left_shift(view: OpView) -> int:
    """Bits that quantized addition gains before it scales its operands."""
    return 15 if view.output().dtype == "int16" else 20


def add_multipliers(view: OpView) -> tuple[Multiplier, Multiplier, Multiplier]:
    """Of both operands and of the sum, in TFLite's quantized addition."""
    a, b, output = view.input(0).scale, view.input(1).scale, view.output().scale
    twice_largest = 2 * max(a, b)
    return (
        quantize_multiplier(a / twice_largest),
        quantize_multiplier(b / twice_largest),
        quantize_multiplier(twice_largest / ((1 << add_left_shift(view)) * output)),
    )


@reference.of("add", "sub")
def _add(view: OpView, a: Array, b: Array) -> Array:
    """Quantized, ``fast``: rint((a - za) * (sa / so) + (b - zb) * (sb / so)), in float32."""
    sign = 1 if view.op.kind == "add" else -1
    output = view.output()
    if output.quant is None:
        return _store_real(view, a + b if sign > 0 else a - b)
    left, right = centred_operands(view, a, b)
    if view.numerics == "fast":
        scale_a = np.float32(view.input(0).scale / output.scale)
        scale_b = np.float32(sign * view.input(1).scale / output.scale)
        total = left.astype(np.float32) * scale_a + right.astype(np.float32) * scale_b
        return _store(view, np.rint(total).astype(np.int64))
    first, second, last = add_multipliers(view)
    shift = add_left_shift(view)
    total = multiply_quantized(left << shift, *first)
    total = total + sign * multiply_quantized(right << shift, *second)
    return _store(view, multiply_quantized(total, *last))


def product_scale(view: OpView) -> float:
    """a's scale * b's scale / output scale."""
    a, b, output = float32_scales(view)
    return float(a * b / output)


@reference.of("mul")
def _mul(view: OpView, a: Array, b: Array) -> Array:
    output = view.output()
    if output.quant is None:
        return _store_real(view, a * b)
    left, right = centred_operands(view, a, b)
    scales = np.array(product_scale(view))
    return requantize(left * right, scales, output, view.params.clamp, view.numerics)


def quotient_multiplier(view: OpView) -> Multiplier:
    """Of a's scale / (b's scale * output scale)."""
    a, b, output = float32_scales(view)
    return quantize_multiplier(float(a / (b * output)))


@reference.of("div")
def _div(view: OpView, a: Array, b: Array) -> Array:
    """Quantized: a number by 0 is the largest or least integer, 0 by 0 is 0."""
    if is_quantized(view):
        return _divide_integers(view, *centred_operands(view, a, b))
    if view.output().quant is None and a.dtype.kind in "iu":
        return _store_real(view, np.trunc(a / b))
    result = _by_reals(view, np.divide, a, b)
    if view.output().quant is None:
        return _store_real(view, result)
    limits = clamp_limits(view.output(), view.params.clamp)
    return np.clip(result, *limits).astype(result.dtype)


def _divide_integers(view: OpView, a: Array, b: Array) -> Array:
    """a times b's reciprocal, with as many bits as there are, then rescaled."""
    a, b = np.broadcast_arrays(np.where(b < 0, -a, a), np.abs(b))
    mantissa, shift = quotient_multiplier(view)
    inverse, right = reciprocal(np.maximum(b, 1))
    headroom = 31 - np.frexp(np.where(a < 0, ~a, a).astype(np.float64))[1].astype(np.int64)
    quotient = doubling_high_multiply(a << headroom, inverse)
    scaled = doubling_high_multiply(quotient, np.int64(mantissa))
    # A shift beyond 31 leaves nothing of an int32.
    exponent = right + headroom - shift
    value = np.where(exponent > 31, 0, rounding_shift_right(scaled, np.clip(exponent, 0, 31)))
    return _store(view, np.where(b == 0, np.sign(a) * (1 << 31), value))


def _by_reals(view: OpView, function: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
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


@reference.of(*(kind for kind in BINARY if kind not in (*COMPARISONS, "squared_difference")))
def _binary(view: OpView, a: Array, b: Array) -> Array:
    return _by_reals(view, FUNCTIONS[view.op.kind], a, b)


COMPARE_LEFT_SHIFT = 8  # bits that a comparison gains before it scales its operands


def compare_multipliers(view: OpView) -> tuple[Multiplier, Multiplier] | None:
    """Of both operands; None where the integers are compared as they are.

    16-bit order is that of the integers, since the scaled ones of small scales are all alike.
    """
    a, b = view.input(0), view.input(1)
    is_order = view.op.kind not in ("equal", "not_equal")
    if not is_quantized(view) or (a.dtype == "int16" and is_order and a.quant == b.quant):
        return None
    return quantize_multiplier(a.scale), quantize_multiplier(b.scale)


@reference.of(*COMPARISONS)
def _compare(view: OpView, a: Array, b: Array) -> Array:
    """Quantized: both are scaled to fixed point with 8 fraction bits, which may make them equal."""
    function = FUNCTIONS[view.op.kind]
    multipliers = compare_multipliers(view)
    if multipliers is None:
        return function(a, b) if is_quantized(view) else _by_reals(view, function, a, b)
    left, right = centred_operands(view, a, b)
    first = multiply_quantized(left << COMPARE_LEFT_SHIFT, *multipliers[0])
    return function(first, multiply_quantized(right << COMPARE_LEFT_SHIFT, *multipliers[1]))


DIFFERENCE_LEFT_SHIFT = 7  # bits that a difference gains before it scales its operands


def difference_multipliers(view: OpView) -> tuple[Multiplier, Multiplier, Multiplier]:
    """Of both operands and of the squared difference."""
    a, b, output = view.input(0).scale, view.input(1).scale, view.output().scale
    twice_largest = 2 * max(a, b)
    squared = twice_largest**2 / ((1 << 2 * DIFFERENCE_LEFT_SHIFT) * output)
    return (
        quantize_multiplier(a / twice_largest),
        quantize_multiplier(b / twice_largest),
        quantize_multiplier(squared),
    )


@reference.of("squared_difference")
def _squared_difference(view: OpView, a: Array, b: Array) -> Array:
    if not is_quantized(view) or a.dtype.itemsize > 1:
        return _by_reals(view, FUNCTIONS["squared_difference"], a, b)
    left, right = centred_operands(view, a, b)
    first, second, last = difference_multipliers(view)
    difference = multiply_quantized(left << DIFFERENCE_LEFT_SHIFT, *first)
    difference = difference - multiply_quantized(right << DIFFERENCE_LEFT_SHIFT, *second)
    return _store(view, multiply_quantized(difference * difference, *last))


def prelu_multipliers(view: OpView) -> tuple[Multiplier, Multiplier]:
    """Of x where it is not negative, and of x times the slope where it is."""
    x, slope, output = float32_scales(view)
    return quantize_multiplier(float(x / output)), quantize_multiplier(float(x * slope / output))


@reference.of("prelu")
def _prelu(view: OpView, x: Array, slope: Array) -> Array:
    if None in (view.input(0).quant, view.input(1).quant, view.output().quant):
        return _by_reals(view, lambda a, b: np.where(a >= 0, a, a * b), x, slope)
    value, factor = centred_operands(view, x, slope)
    kept, multiplied = prelu_multipliers(view)
    positive = multiply_quantized(value, *kept)
    negative = multiply_quantized(value * factor, *multiplied)
    return _store(view, np.where(value >= 0, positive, negative))


@reference.of("select")
def _select(view: OpView, condition: Array, a: Array, b: Array) -> Array:
    return np.where(condition, a, b).astype(view.output().dtype)
