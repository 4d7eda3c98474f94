"""Every kernel of arm_neon_dotprod against the numpy meaning, over the shape grid, under QEMU."""

from __future__ import annotations

import pytest

from compiler.kernels import all_kernels, kernel_named
from compiler.loading import load_builtins
from tests.support.kernel_harness import MACHINES, check
from tests.support.simd_cases import simd_cases

load_builtins()
KERNELS = sorted(k.name for k in all_kernels() if k.target == "arm_neon_dotprod")


@pytest.mark.parametrize("name", KERNELS)
def test_grid(name: str) -> None:
    MACHINES["aarch64"].require()
    check(simd_cases(kernel_named(name)), MACHINES["aarch64"])
