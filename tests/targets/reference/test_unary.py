"""Unary operators of the reference target against the reference attribute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.elementwise import (
    UNARY,
    ClampParams,
    EluParams,
    GeluParams,
    LeakyReluParams,
    UnaryParams,
)
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import fitting, one_op, tensor, values

load_builtins()

WITH_PARAMS: tuple[tuple[str, Any], ...] = (
    ("clamp", ClampParams(0.0, 6.0)),
    ("clamp", ClampParams(-1.0, float("inf"))),
    ("leaky_relu", LeakyReluParams(0.1)),
    ("elu", EluParams(1.5)),
    ("gelu", GeluParams(False)),
    ("gelu", GeluParams(True)),
)
POSITIVE = ("sqrt", "rsqrt", "log")
WITHIN_ONE = ("asin", "acos", "atanh")
SHAPES = ((7,), (1,), (2, 3, 5), (64,), (33,))


def float_values(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    x = values(np.random.default_rng(1), shape, "float32") * 3
    if kind in POSITIVE:
        return np.abs(x) + np.float32(0.01)
    if kind in WITHIN_ONE:
        return np.asarray(np.tanh(x) * np.float32(0.99))
    if kind == "acosh":
        return np.abs(x) + np.float32(1.001)
    return np.where(np.abs(x) < 0.2, np.float32(0.5), x) if kind in ("reciprocal", "tan") else x


def kernel_name(kind: str, params: Any) -> str:
    stem = "gelu_tanh" if getattr(params, "approximate", False) else kind
    return f"{stem}_float32__reference"


def test_float32() -> None:
    kinds = [(kind, UnaryParams()) for kind in UNARY if kind != "logical_not"]
    cases = []
    for kind, params in (*kinds, *WITH_PARAMS):
        for shape in SHAPES:
            tensors = [tensor(name, shape, "float32") for name in "xy"]
            view = one_op(kind, params, tensors[:1], tensors[1:])
            kernel = kernel_named(kernel_name(kind, params))
            assert kernel.fits(view)
            cases.append(Case(kernel, view, (float_values(kind, shape),)))
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers(dtype: str) -> None:
    cases = []
    for kind in ("abs", "neg", "square", "sign", "clamp"):
        params = ClampParams(-5.0, 1e9) if kind == "clamp" else UnaryParams()
        for shape in SHAPES:
            tensors = [tensor(name, shape, dtype) for name in "xy"]
            view = one_op(kind, params, tensors[:1], tensors[1:])
            x = values(np.random.default_rng(2), shape, dtype)
            x.flat[0] = np.iinfo(dtype).min
            cases.append(Case(kernel_named(f"{kind}_{dtype}__reference"), view, (x,)))
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_quantized_by_table(dtype: str) -> None:
    kernel = kernel_named(f"lookup_{'int16' if dtype == 'int16' else 'int8'}__reference")
    kinds = [("tanh", UnaryParams()), ("logistic", UnaryParams()), *WITH_PARAMS]
    if dtype != "int16":
        kinds += [(kind, UnaryParams()) for kind in UNARY if kind != "logical_not"]
    cases = []
    for index, (kind, params) in enumerate(kinds):
        shape = SHAPES[index % len(SHAPES)]
        zero_points = (5, -3) if dtype == "int8" else (128, 0) if dtype == "uint8" else (0, 0)
        tensors = [
            tensor(name, shape, dtype, scale, zero)
            for name, scale, zero in zip("xy", (0.05, 0.04), zero_points, strict=True)
        ]
        view = one_op(kind, params, tensors[:1], tensors[1:])
        cases.append(Case(kernel, view, (values(np.random.default_rng(3), shape, dtype),)))
    check(fitting(cases), MACHINES["host-sanitized"])


def test_logical_not() -> None:
    tensors = [tensor(name, (9,), "bool") for name in "xy"]
    view = one_op("logical_not", UnaryParams(), tensors[:1], tensors[1:])
    x = np.arange(9) % 2 == 0
    case = Case(kernel_named("logical_not_bool__reference"), view, (x,))
    check([case], MACHINES["host-sanitized"])


def test_inverse_functions_near_their_ends() -> None:
    """To a few ulp of each value, not only of the range."""
    large = np.array([1e-30, 1e-6, 1e-3, 0.3, 0.499, 1, 2.5, 80, 1e4, 1e10, 3e38], np.float32)
    small = np.array([1e-30, 1e-6, 1e-3, 0.3, 0.5, 0.8, 0.999, 1], np.float32)
    domains = {
        "atan": large, "asinh": large, "sinh": large[:8], "cosh": large[:8],
        "acosh": large[5:], "asin": small, "acos": small, "atanh": small[:-1],
    }  # fmt: skip
    cases = []
    for kind, domain in domains.items():
        for x in np.concatenate([domain, -domain]) if kind != "acosh" else domain:
            tensors = [tensor(name, (1,), "float32") for name in "xy"]
            view = one_op(kind, UnaryParams(), tensors[:1], tensors[1:])
            kernel = kernel_named(kernel_name(kind, None))
            cases.append(Case(kernel, view, (np.array([x], np.float32),)))
    check(cases, MACHINES["host"], tolerance=2e-6)
