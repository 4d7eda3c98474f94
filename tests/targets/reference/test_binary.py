"""Binary operators and select of the reference target, broadcasting in every way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.elementwise import (
    ARITHMETIC,
    ArithmeticParams,
    BinaryParams,
    PreluParams,
    SelectParams,
)
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import fitting, one_op, tensor, values
from tests.support.shape_grid import CLAMPS, NUMERICS

load_builtins()

SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((2, 3, 5), (2, 3, 5)), ((37,), (37,)), ((4, 17), (17,)), ((17,), (4, 17)), ((9,), ()),
    ((), (9,)), ((1, 1), (1,)), ((2, 1, 3), (4, 1)), ((2, 3, 4), (3, 1)), ((3, 1), (1, 5)),
    ((1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 2, 1, 2, 1)), ((2, 4, 4, 8), (2, 1, 1, 8)),
)  # fmt: skip
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
PLAIN = (
    "maximum", "minimum", "squared_difference", "floor_div", "floor_mod", "pow", "truncated_mod",
)  # fmt: skip
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right")


def params_of(kind: str, index: int) -> Any:
    if kind in ARITHMETIC:
        return ArithmeticParams(CLAMPS[index % len(CLAMPS)])
    return PreluParams() if kind == "prelu" else BinaryParams()


def plain_case(kind: str, dtype: str, index: int) -> Case:
    """Operands that stand for themselves."""
    shapes = SHAPES[index % len(SHAPES)]
    random = np.random.default_rng(index)
    a, b = (values(random, shape, dtype) for shape in shapes)
    if dtype.startswith("int") and kind not in COMPARISONS:
        a, b = (np.asarray(x // 2 ** (8 if dtype == "int32" else 40)).astype(dtype) for x in (a, b))
        if kind in ("div", "floor_div", "floor_mod", "truncated_mod"):
            b = np.asarray(np.where(b % 1000 == 0, 3, b % 1000 - 500) | 1).astype(dtype)
        if kind.startswith("shift"):
            b = np.asarray(b % 31).astype(dtype)
        if kind == "pow":
            a, b = np.asarray(a % 7 - 3).astype(dtype), np.asarray(b % 5).astype(dtype)
    if dtype == "float32" and kind in ("div", "floor_div", "floor_mod", "truncated_mod"):
        b = np.asarray(np.copysign(np.abs(b) + np.float32(0.3), b)).astype(np.float32)
    if dtype == "float32" and kind == "pow":
        a = np.abs(a)
    if kind in COMPARISONS and dtype != "bool":
        a, b = (np.asarray(x.astype(np.int64) % 3).astype(dtype) for x in (a, b))
    output = np.broadcast_shapes(*shapes)
    logical = kind in COMPARISONS or kind.startswith("logical")
    view = one_op(
        kind, params_of(kind, index),
        [tensor("a", shapes[0], dtype), tensor("b", shapes[1], dtype)],
        [tensor("y", output, "bool" if logical else dtype)],
    )  # fmt: skip
    return Case(kernel_named(f"{kind}_{dtype}__reference"), view, (a, b))


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_plain_numbers(dtype: str) -> None:
    kinds = (*ARITHMETIC, *PLAIN, *(("prelu",) if dtype == "float32" else BITWISE))
    cases = [plain_case(kind, dtype, index) for kind in kinds for index in range(len(SHAPES))]
    for machine in ("host-sanitized", "host"):  # in place and vectorised as well
        check(fitting(cases), MACHINES[machine])


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "int8", "uint8", "int16", "bool"])
def test_comparisons(dtype: str) -> None:
    kinds = COMPARISONS
    if dtype == "bool":
        kinds += ("logical_and", "logical_or", "logical_xor")
    cases = [plain_case(kind, dtype, index) for kind in kinds for index in range(len(SHAPES))]
    check(fitting(cases), MACHINES["host-sanitized"])


def quantized_case(kind: str, stem: str, dtype: str, index: int, same: bool) -> Case:
    shapes = SHAPES[index % len(SHAPES)]
    random = np.random.default_rng(index)
    zero_points = {"int8": (-128, 127, 5), "uint8": (255, 0, 120), "int16": (0, 0, 0)}[dtype]
    scales = (0.031, 0.057, 0.02) if kind != "mul" or index % 2 else (0.031, 0.057, 0.08)
    if dtype == "int16":
        scales = (0.00031, 0.00057, 0.0002)
    if same:
        scales, zero_points = (scales[0],) * 3, (zero_points[2],) * 3
    logical = kind in COMPARISONS
    output = np.broadcast_shapes(*shapes)
    y = (
        tensor("y", output, "bool")
        if logical
        else tensor("y", output, dtype, scales[2], zero_points[2])
    )
    operands = [
        tensor(name, shape, dtype, scale, zero)
        for name, shape, scale, zero in zip("ab", shapes, scales, zero_points, strict=False)
    ]
    view = one_op(kind, params_of(kind, index), operands, [y], NUMERICS[index % 2])
    arrays = tuple(values(random, shape, dtype, index % 5 == 4) for shape in shapes)
    return Case(kernel_named(f"{stem}_{dtype}__reference"), view, arrays)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_quantized(dtype: str) -> None:
    grid = [
        ("add", "add", False), ("sub", "add", False), ("add", "add", True), ("mul", "mul", False),
        ("maximum", "maximum", False), ("minimum", "minimum", False), ("div", "div", False),
        ("maximum", "maximum_raw", True), ("minimum", "minimum_raw", True),
        ("prelu", "prelu", False),
        ("squared_difference", f"squared_difference{'' if dtype == 'int16' else '_fixed'}", False),
        *((kind, f"{kind}_scaled", False) for kind in COMPARISONS),
    ]  # fmt: skip
    cases = [
        quantized_case(kind, stem, dtype, index, same)
        for kind, stem, same in grid
        for index in range(2 * len(SHAPES))
    ]
    assert len(fitting(cases)) == len(cases)
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "int64"])
def test_select(dtype: str) -> None:
    kernel = kernel_named(f"select_bytes{np.dtype(dtype).itemsize}__reference")
    cases = []
    for index, (first, second) in enumerate(SHAPES):
        shapes = ((second, first, second), (first, second, ()), ((), first, second))[index % 3]
        random = np.random.default_rng(index)
        condition = values(random, shapes[0], "bool")
        arrays = [values(random, shape, dtype) for shape in shapes[1:]]
        view = one_op(
            "select", SelectParams(),
            [tensor("c", shapes[0], "bool"), tensor("a", shapes[1], dtype),
             tensor("b", shapes[2], dtype)],
            [tensor("y", np.broadcast_shapes(*shapes), dtype)],
        )  # fmt: skip
        cases.append(Case(kernel, view, (condition, *arrays)))
    check(cases, MACHINES["host-sanitized"])
