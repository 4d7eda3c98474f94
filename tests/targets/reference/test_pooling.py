"""Pooling of the reference target against the reference attribute."""

from __future__ import annotations

import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from tests.support.kernel_harness import MACHINES, check
from tests.support.shape_grid import pool_cases

load_builtins()


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
@pytest.mark.parametrize("kind", ["average_pool2d", "max_pool2d"])
def test_pool(kind: str, dtype: str) -> None:
    kernel = kernel_named(f"{kind}_{dtype}__reference")
    check(pool_cases(kernel, kind), MACHINES["host-sanitized"])
