"""Elementwise operators: unary, binary, comparisons and choice."""

from __future__ import annotations

import math

import numpy as np

from compiler.importers.onnx_model.metadata import dtype_of
from compiler.importers.onnx_model.node import Node, reads
from compiler.operators.elementwise import (
    CastParams,
    ClampParams,
    EluParams,
    GeluParams,
    LeakyReluParams,
)

#: ONNX name to ours, where the meaning is the same.
UNARY = {
    "Abs": "abs", "Neg": "neg", "Sqrt": "sqrt", "Reciprocal": "reciprocal", "Exp": "exp",
    "Log": "log", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Floor": "floor", "Ceil": "ceil",
    "Round": "round", "Sign": "sign", "Erf": "erf", "Sigmoid": "logistic", "Tanh": "tanh",
    "HardSwish": "hard_swish", "Softplus": "softplus", "Softsign": "softsign", "Mish": "mish",
    "Not": "logical_not", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh",
    "Cosh": "cosh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh",
}  # fmt: skip
BINARY = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "PRelu": "prelu",
    "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor",
    "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
}  # fmt: skip
COMPARISONS = {
    "Equal": "equal", "Less": "less", "LessOrEqual": "less_equal", "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
}  # fmt: skip
VARIADIC = {"Min": "minimum", "Max": "maximum", "Sum": "add"}


@reads(*UNARY)
def unary(node: Node) -> str:
    return node.build.emit(UNARY[node.kind], node.input())


@reads(*BINARY)
def binary(node: Node) -> str:
    return node.build.emit(BINARY[node.kind], node.input(0), node.input(1))


@reads(*COMPARISONS)
def comparison(node: Node) -> str:
    return node.build.emit(COMPARISONS[node.kind], node.input(0), node.input(1), dtype="bool")


@reads(*VARIADIC)
def variadic(node: Node) -> str:
    """Left to right, two at a time."""
    result = node.input(0)
    for index in range(1, len(node.inputs)):
        result = node.build.emit(VARIADIC[node.kind], result, node.input(index))
    return result


@reads("Mean")
def mean(node: Node) -> str:
    total = node.input(0)
    for index in range(1, len(node.inputs)):
        total = node.build.emit("add", total, node.input(index))
    return node.build.emit("mul", total, node.build.like(total, 1.0 / len(node.inputs)))


@reads("Pow")
def power(node: Node) -> str:
    """The common exponents have operators of their own."""
    exponent = node.data(1)
    special = {2.0: "square", 0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}
    if exponent is not None and exponent.size == 1 and node.dtype().startswith("float"):
        value = float(exponent.reshape(-1)[0])
        if value == 1.0:
            return node.input(0)
        if value in special and exponent.ndim <= node.rank():
            return node.build.emit(special[value], node.input(0))
    if node.dtype().startswith("int") and node.dtype(1).startswith("float"):
        base = node.build.cast(node.input(0), node.dtype(1))
        return node.build.cast(node.build.emit("pow", base, node.input(1)), node.dtype())
    return node.build.emit("pow", node.input(0), node.build.cast(node.input(1), node.dtype()))


@reads("Mod")
def modulo(node: Node) -> str:
    """With the sign of the divisor, or with ``fmod`` of the dividend."""
    kind = "truncated_mod" if node.attribute("fmod", 0) else "floor_mod"
    return node.build.emit(kind, node.input(0), node.input(1))


@reads("BitShift")
def bit_shift(node: Node) -> str:
    kind = "shift_left" if node.required("direction") == "LEFT" else "shift_right"
    return node.build.emit(kind, node.input(0), node.input(1))


@reads("BitwiseNot")
def bitwise_not(node: Node) -> str:
    """All bits flipped: exclusive or with -1, which is all ones."""
    ones = np.array(-1, np.int64).astype(node.dtype())
    return node.build.emit("bitwise_xor", node.input(), node.build.constant(ones, "ones"))


@reads("IsNaN")
def is_nan(node: Node) -> str:
    """NaN alone is not equal to itself."""
    return node.build.emit("not_equal", node.input(), node.input(), dtype="bool")


@reads("IsInf")
def is_inf(node: Node) -> str:
    build, x = node.build, node.input()
    signs = [bool(node.attribute(f"detect_{name}", 1)) for name in ("positive", "negative")]
    if not any(signs):
        return build.constant(np.zeros(node.shape(), bool), "none")
    if all(signs):
        x = build.emit("abs", x)
    limit = build.like(x, math.inf if signs[0] else -math.inf)
    return build.emit("equal", x, limit, dtype="bool")


@reads("Relu")
def relu(node: Node) -> str:
    return node.build.emit("clamp", node.input(), params=ClampParams(0.0, math.inf))


@reads("Clip")
def clip(node: Node) -> str:
    """Limits are attributes before opset 11, inputs since, and may be computed."""
    x, limits = node.input(), {"min": -math.inf, "max": math.inf}
    for index, name, kind in ((1, "min", "maximum"), (2, "max", "minimum")):
        if node.has(index) and node.data(index) is None:
            x = node.build.emit(kind, x, node.input(index))
        elif node.has(index):
            limits[name] = float(node.constant(index, name).reshape(()))
        else:
            limits[name] = float(node.attribute(name, limits[name]))
    low, high = limits["min"], limits["max"]
    if math.isinf(low) and math.isinf(high):
        return x
    return node.build.emit("clamp", x, params=ClampParams(min(low, high), high))


@reads("LeakyRelu")
def leaky_relu(node: Node) -> str:
    params = LeakyReluParams(float(node.attribute("alpha", 0.01)))
    return node.build.emit("leaky_relu", node.input(), params=params)


@reads("Elu")
def elu(node: Node) -> str:
    params = EluParams(float(node.attribute("alpha", 1.0)))
    return node.build.emit("elu", node.input(), params=params)


@reads("Selu")
def selu(node: Node) -> str:
    """gamma * elu(x, alpha); the defaults are ONNX's."""
    alpha = float(node.attribute("alpha", 1.67326319217681884765625))
    gamma = float(node.attribute("gamma", 1.05070102214813232421875))
    y = node.build.emit("elu", node.input(), params=EluParams(alpha))
    return node.build.emit("mul", y, node.build.like(y, gamma))


@reads("Celu")
def celu(node: Node) -> str:
    """alpha * elu(x / alpha)."""
    alpha = float(node.attribute("alpha", 1.0))
    x = node.build.emit("mul", node.input(), node.build.like(node.input(), 1.0 / alpha))
    y = node.build.emit("elu", x, params=EluParams())
    return node.build.emit("mul", y, node.build.like(y, alpha))


@reads("Gelu")
@reads("Gelu", domain="com.microsoft")
def gelu(node: Node) -> str:
    params = GeluParams(approximate=node.attribute("approximate", "none") == "tanh")
    return node.build.emit("gelu", node.input(), params=params)


@reads("HardSigmoid")
def hard_sigmoid(node: Node) -> str:
    """clamp(alpha * x + beta, 0, 1)."""
    build, x = node.build, node.input()
    alpha, beta = (float(node.attribute(n, d)) for n, d in (("alpha", 0.2), ("beta", 0.5)))
    y = build.emit("add", build.emit("mul", x, build.like(x, alpha)), build.like(x, beta))
    return build.emit("clamp", y, params=ClampParams(0.0, 1.0))


@reads("ThresholdedRelu")
def thresholded_relu(node: Node) -> str:
    build, x = node.build, node.input()
    above = build.emit(
        "greater", x, build.like(x, float(node.attribute("alpha", 1.0))), dtype="bool"
    )
    return build.emit("select", above, x, build.like(x, 0.0), dtype=node.dtype())


@reads("Where")
def where(node: Node) -> str:
    dtype = node.dtype(1)
    return node.build.emit("select", node.input(0), node.input(1), node.input(2), dtype=dtype)


@reads("Cast")
def cast(node: Node) -> str:
    dtype = dtype_of(node.required("to"))
    if dtype == node.dtype():
        return node.input()
    return node.build.emit("cast", node.input(), params=CastParams(dtype), dtype=dtype)


@reads("CastLike")
def cast_like(node: Node) -> str:
    dtype = node.dtype(1)
    if dtype == node.dtype():
        return node.input()
    return node.build.emit("cast", node.input(), params=CastParams(dtype), dtype=dtype)
