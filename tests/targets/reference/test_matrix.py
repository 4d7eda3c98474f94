"""Matrix products of the reference target against the reference attribute."""

from __future__ import annotations

import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from tests.support.kernel_harness import MACHINES, check
from tests.support.operator_cases import with_weights_as_inputs
from tests.support.shape_grid import batch_matmul_cases, fully_connected_cases

load_builtins()
DTYPES = ("float32", "int8", "uint8", "int16")


@pytest.mark.parametrize("dtype", DTYPES)
def test_fully_connected(dtype: str) -> None:
    kernel = kernel_named(f"fully_connected_{dtype}__reference")
    check(fully_connected_cases(kernel), MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_batch_matmul(dtype: str) -> None:
    kernel = kernel_named(f"batch_matmul_{dtype}__reference")
    check(batch_matmul_cases(kernel), MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_that_are_not_constant(dtype: str) -> None:
    cases = fully_connected_cases(kernel_named(f"fully_connected_{dtype}__reference"))[::4]
    check(with_weights_as_inputs(cases), MACHINES["host-sanitized"])
