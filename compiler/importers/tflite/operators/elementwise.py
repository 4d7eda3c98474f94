"""Operators that work element by element."""

from __future__ import annotations

import math

from compiler.errors import UnsupportedError
from compiler.importers.tflite.node import Node, reads
from compiler.operators.elementwise import (
    ArithmeticParams,
    BinaryParams,
    CastParams,
    ClampParams,
    EluParams,
    GeluParams,
    LeakyReluParams,
    PreluParams,
    SelectParams,
    UnaryParams,
)
from compiler.operators.movement import ReshapeParams

UNARY = {
    "ABS": "abs", "NEG": "neg", "SQUARE": "square", "SQRT": "sqrt", "RSQRT": "rsqrt",
    "EXP": "exp", "LOG": "log", "SIN": "sin", "COS": "cos", "FLOOR": "floor", "CEIL": "ceil",
    "ROUND": "round", "SIGN": "sign", "LOGISTIC": "logistic", "TANH": "tanh",
    "HARD_SWISH": "hard_swish", "LOGICAL_NOT": "logical_not",
}  # fmt: skip

BINARY = {
    "MAXIMUM": "maximum", "MINIMUM": "minimum", "POW": "pow", "FLOOR_DIV": "floor_div",
    "FLOOR_MOD": "floor_mod", "SQUARED_DIFFERENCE": "squared_difference", "EQUAL": "equal",
    "NOT_EQUAL": "not_equal", "LESS": "less", "LESS_EQUAL": "less_equal", "GREATER": "greater",
    "GREATER_EQUAL": "greater_equal", "LOGICAL_AND": "logical_and", "LOGICAL_OR": "logical_or",
}  # fmt: skip

#: Fused activations stand in each operator's own options.
ARITHMETIC = {
    "ADD": ("add", "AddOptions"),
    "SUB": ("sub", "SubOptions"),
    "MUL": ("mul", "MulOptions"),
    "DIV": ("div", "DivOptions"),
}

CLAMPS = {
    "RELU": (0.0, math.inf),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU_0_TO_1": (0.0, 1.0),
}


@reads(*UNARY)
def unary(node: Node) -> None:
    node.emit(UNARY[node.kind], (node.input(0),), UnaryParams())


@reads(*BINARY)
def binary(node: Node) -> None:
    node.emit(BINARY[node.kind], (node.input(0), node.input(1)), BinaryParams())


@reads(*ARITHMETIC)
def arithmetic(node: Node) -> None:
    kind, table = ARITHMETIC[node.kind]
    has_options = node.operator.table is not None
    activation = node.options(table).FusedActivationFunction() if has_options else 0
    node.emit_activated(kind, (node.input(0), node.input(1)), ArithmeticParams(), activation)


@reads("ADD_N")
def add_n(node: Node) -> None:
    """A chain of additions, from the left."""
    if node.outputs[0].quant is not None:
        raise UnsupportedError("a quantized ADD_N is not supported")
    total = node.input(0)
    for index in range(1, len(node.inputs) - 1):
        total = node.inner("add", (total, node.input(index)), ArithmeticParams())
    node.emit("add", (total, node.input(len(node.inputs) - 1)), ArithmeticParams())


@reads(*CLAMPS)
def clamp(node: Node) -> None:
    node.emit("clamp", (node.input(0),), ClampParams(*CLAMPS[node.kind]))


@reads("LEAKY_RELU")
def leaky_relu(node: Node) -> None:
    alpha = float(node.options("LeakyReluOptions").Alpha())
    node.emit("leaky_relu", (node.input(0),), LeakyReluParams(alpha))


@reads("ELU")
def elu(node: Node) -> None:
    node.emit("elu", (node.input(0),), EluParams())


@reads("GELU")
def gelu(node: Node) -> None:
    approximate = bool(node.options("GeluOptions").Approximate())
    node.emit("gelu", (node.input(0),), GeluParams(approximate))


@reads("PRELU")
def prelu(node: Node) -> None:
    node.emit("prelu", (node.input(0), node.input(1)), PreluParams())


@reads("SELECT", "SELECT_V2")
def select(node: Node) -> None:
    condition, a, b = node.input(0), node.input(1), node.input(2)
    if node.kind == "SELECT" and len(condition.shape) == 1 and len(a.shape) > 1:
        # The old form chooses whole rows of the first axis.
        shape = (condition.shape[0], *(1,) * (len(a.shape) - 1))
        condition = node.inner("reshape", (condition,), ReshapeParams(shape))
    node.emit("select", (condition, a, b), SelectParams())


@reads("CAST")
def cast(node: Node) -> None:
    node.emit("cast", (node.input(0),), CastParams(node.outputs[0].dtype))
