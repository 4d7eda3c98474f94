"""Elementwise operators: their parameters, shapes and classes. Meanings: unary.py, binary.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import NO_CLAMP, OpView, Shape
from compiler.registry import classify, params, shape

UNARY = (
    "abs", "neg", "square", "sqrt", "rsqrt", "reciprocal", "exp", "log", "sin", "cos", "tan",
    "floor", "ceil", "round", "sign", "erf", "logistic", "tanh", "hard_swish", "hard_sigmoid",
    "softplus", "softsign", "mish", "silu", "logical_not", "relu_0_to_1",
    "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
)  # fmt: skip
ARITHMETIC = ("add", "sub", "mul", "div")
BINARY = (
    "maximum", "minimum", "pow", "squared_difference", "floor_div", "floor_mod", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
    "logical_xor", "truncated_mod", "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left",
    "shift_right",
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
    """Inputs a and b, broadcast. Comparisons give bool.

    ``floor_mod`` has the sign of b, ``truncated_mod`` that of a. A shift is by less than the bits
    of the type.
    """


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
