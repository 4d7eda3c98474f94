"""Convolutions of the reference target against the reference attribute, over the shape grid."""

from __future__ import annotations

import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from tests.support.kernel_harness import MACHINES, check
from tests.support.operator_cases import with_weights_as_inputs
from tests.support.shape_grid import conv2d_cases, depthwise_cases, transpose_conv2d_cases

load_builtins()
DTYPES = ("float32", "int8", "uint8", "int16")


@pytest.mark.parametrize("dtype", DTYPES)
def test_conv2d(dtype: str) -> None:
    check(conv2d_cases(kernel_named(f"conv2d_{dtype}__reference")), MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_depthwise_conv2d(dtype: str) -> None:
    kernel = kernel_named(f"depthwise_conv2d_{dtype}__reference")
    check(depthwise_cases(kernel), MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_transpose_conv2d(dtype: str) -> None:
    kernel = kernel_named(f"transpose_conv2d_{dtype}__reference")
    check(transpose_conv2d_cases(kernel), MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_that_are_not_constant(dtype: str) -> None:
    cases = conv2d_cases(kernel_named(f"conv2d_{dtype}__reference"))[::4]
    check(with_weights_as_inputs(cases), MACHINES["host-sanitized"])
