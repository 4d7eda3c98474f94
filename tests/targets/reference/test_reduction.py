"""Reductions, arg_max, softmax and its kin of the reference target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.reduction import (
    ArgParams,
    L2NormalizationParams,
    LogSoftmaxParams,
    ReduceParams,
    SoftmaxParams,
)
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.shape_grid import one_op, tensor, values

load_builtins()

REDUCED: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((7,), (0,)), ((3, 5), (1,)), ((3, 5), (0,)), ((3, 5), (0, 1)), ((2, 5, 4, 17), (1, 2)),
    ((2, 3, 4, 5), (0, 2)), ((2, 3, 4, 5), (1, 3)), ((1, 1, 9), (0, 1)), ((2, 3, 4), (2,)),
    ((2, 1, 2, 3, 2, 1, 2, 3), (1, 3, 5, 7)), ((1, 6, 6, 40), (1, 2)), ((4,), ()),
)  # fmt: skip


def reduce_case(kind: str, dtype: str, index: int, **quant: Any) -> Case:
    shape, axes = REDUCED[index]
    keep = index % 2 == 1
    rest = tuple(1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes)
    x = values(np.random.default_rng(index), shape, dtype)
    if dtype.startswith("int") and not quant:
        x = np.asarray(x // 2 ** (24 if dtype == "int32" else 50)).astype(dtype)
    source = tensor("x", shape, dtype, *quant.get("source", ()))
    output = tensor("y", rest, dtype, *quant.get("output", ()))
    view = one_op(kind, ReduceParams(axes, keep), [source], [output])
    return Case(kernel_named(f"{kind}_{dtype}__reference"), view, (x,))


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_reduce_numbers(dtype: str) -> None:
    kinds = ("sum", "mean", "reduce_prod", "reduce_max", "reduce_min")
    cases = [reduce_case(kind, dtype, i) for kind in kinds for i in range(len(REDUCED))]
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_reduce_quantized(dtype: str) -> None:
    zero_points = {"int8": (-128, 5), "uint8": (255, 120), "int16": (0, 0)}[dtype]
    same = {"source": (0.1, zero_points[0]), "output": (0.1, zero_points[0])}
    other = {"source": (0.1, zero_points[0]), "output": (0.037, zero_points[1])}
    cases = []
    for i in range(len(REDUCED)):
        cases += [reduce_case(kind, dtype, i, **same) for kind in ("reduce_max", "reduce_min")]
        cases += [reduce_case("mean", dtype, i, **quant) for quant in (same, other)]
    check(cases, MACHINES["host-sanitized"])


def test_reduce_bool() -> None:
    cases = [
        reduce_case(kind, "bool", i)
        for kind in ("reduce_any", "reduce_all")
        for i in range(len(REDUCED))
    ]
    check(cases, MACHINES["host-sanitized"])


AXES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((7,), 0), ((1, 10), 1), ((3, 5), 0), ((2, 3, 4), 1), ((2, 3, 17), 2), ((2, 3, 1), 2),
    ((2, 2, 2, 33), 3), ((1, 1000), 1),
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "int32", "int64"])
def test_arg(dtype: str) -> None:
    cases = []
    for kind in ("arg_max", "arg_min"):
        for index in ("int32", "int64"):
            for shape, axis in AXES:
                x = np.asarray(values(np.random.default_rng(axis), shape, dtype)).astype(dtype)
                x = np.asarray(x.astype(np.int64) % 5).astype(dtype)  # ties
                rest = shape[:axis] + shape[axis + 1 :]
                view = one_op(
                    kind, ArgParams(axis, False, index), [tensor("x", shape, dtype)],
                    [tensor("y", rest, index)],
                )  # fmt: skip
                cases.append(Case(kernel_named(f"{kind}_{dtype}_{index}__reference"), view, (x,)))
    check(cases, MACHINES["host-sanitized"])


def test_float_normalization() -> None:
    cases = []
    for shape, axis in AXES:
        operators: list[tuple[str, Any]] = [
            ("softmax", SoftmaxParams(axis, 0.7)),
            ("softmax", SoftmaxParams(axis)),
            ("log_softmax", LogSoftmaxParams(axis)),
        ]
        if axis == len(shape) - 1:
            operators.append(("l2_normalization", L2NormalizationParams()))
        for kind, params in operators:
            x = values(np.random.default_rng(axis), shape, "float32") * 10
            tensors = [tensor(name, shape, "float32") for name in "xy"]
            view = one_op(kind, params, tensors[:1], tensors[1:])
            cases.append(Case(kernel_named(f"{kind}_float32__reference"), view, (x,)))
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_integer_softmax(dtype: str) -> None:
    cases = []
    for index, (shape, axis) in enumerate(AXES):
        for scale in (0.003, 0.1, 0.7, 4.0):
            x = values(np.random.default_rng(index), shape, dtype, extreme=index % 3 == 2)
            lowest = -128 if dtype == "int8" else 0
            view = one_op(
                "softmax", SoftmaxParams(axis, 1.3 if index % 2 else 1.0),
                [tensor("x", shape, dtype, scale, 3)],
                [tensor("y", shape, dtype, 1 / 256, lowest)],
            )  # fmt: skip
            cases.append(Case(kernel_named(f"softmax_{dtype}__reference"), view, (x,)))
    check(cases, MACHINES["host-sanitized"])
