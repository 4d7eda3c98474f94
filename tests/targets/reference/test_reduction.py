"""Reductions, arg_max, softmax and its kin of the reference target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.normalization import (
    L2NormalizationParams,
    LogSoftmaxParams,
    SoftmaxParams,
)
from compiler.operators.reduction import ArgParams, ReduceParams
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import fitting, one_op, tensor, values

load_builtins()

REDUCED: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((7,), (0,)), ((3, 5), (1,)), ((3, 5), (0,)), ((3, 5), (0, 1)), ((2, 5, 4, 17), (1, 2)),
    ((2, 3, 4, 5), (0, 2)), ((2, 3, 4, 5), (1, 3)), ((1, 1, 9), (0, 1)), ((2, 3, 4), (2,)),
    ((2, 1, 2, 3, 2, 1, 2, 3), (1, 3, 5, 7)), ((1, 6, 6, 40), (1, 2)), ((4,), ()),
)  # fmt: skip


def reduce_case(kind: str, dtype: str, index: int, name: str = "", **quant: Any) -> Case:
    shape, axes = REDUCED[index]
    keep = index % 2 == 1
    rest = tuple(1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes)
    x = values(np.random.default_rng(index), shape, dtype)
    if dtype.startswith("int") and not quant:
        x = np.asarray(x // 2 ** (24 if dtype == "int32" else 50)).astype(dtype)
    source = tensor("x", shape, dtype, *quant.get("source", ()))
    output = tensor("y", rest, dtype, *quant.get("output", ()))
    view = one_op(kind, ReduceParams(axes, keep), [source], [output])
    return Case(kernel_named(name or f"{kind}_{dtype}__reference"), view, (x,))


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
        cases += [
            reduce_case(kind, dtype, i, name=f"mean_{dtype}__reference", **quant)
            for kind in ("mean", "sum")
            for quant in (same, other)
        ]
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


#: Scale and zero point of the int8 output that each fixed-point function has.
FIXED_OUTPUTS = {
    "softmax": (1 / 256, -128), "log_softmax": (16 / 256, 127), "l2_normalization": (1 / 128, 0)
}  # fmt: skip


def normalization_cases(kind: str, dtype: str) -> list[Case]:
    cases = []
    output_scale, output_zero = FIXED_OUTPUTS[kind] if dtype != "int16" else (1 / 32768, 0)
    for index, (shape, axis) in enumerate(AXES):
        if kind == "l2_normalization" and axis != len(shape) - 1:
            continue
        params: dict[str, Any] = {
            "softmax": SoftmaxParams(axis, 1.3 if index % 2 else 1.0),
            "log_softmax": LogSoftmaxParams(axis),
            "l2_normalization": L2NormalizationParams(),
        }
        for scale in (0.003, 0.1, 0.7, 4.0):
            x = values(np.random.default_rng(index), shape, dtype, extreme=index % 3 == 2)
            offset = 128 if dtype == "uint8" else 0
            source = (scale / 200, 0) if dtype == "int16" else (scale, 3 + offset)
            view = one_op(
                kind, params[kind], [tensor("x", shape, dtype, *source)],
                [tensor("y", shape, dtype, output_scale, output_zero + offset)],
            )  # fmt: skip
            cases.append(Case(kernel_named(f"{kind}_{dtype}__reference"), view, (x,)))
    return cases


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("kind", FIXED_OUTPUTS)
def test_integer_normalization(kind: str, dtype: str) -> None:
    cases = normalization_cases(kind, dtype)
    assert len(fitting(cases)) == len(cases)
    check(cases, MACHINES["host-sanitized"])


def test_softmax_int16() -> None:
    cases = normalization_cases("softmax", "int16")
    assert len(fitting(cases)) == len(cases)
    check(cases, MACHINES["host-sanitized"])
