"""Convolutions of the reference target against the reference attribute, over the shape grid."""

from __future__ import annotations

import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from tests.support.kernel_harness import MACHINES, check
from tests.support.shape_grid import conv2d_cases

load_builtins()


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_conv2d(dtype: str) -> None:
    check(conv2d_cases(kernel_named(f"conv2d_{dtype}__reference")), MACHINES["host-sanitized"])
