"""Every kernel of x86_avxvnni against the numpy meaning, over the shape grid."""

from __future__ import annotations

import pytest

from compiler.kernels import all_kernels, kernel_named
from compiler.loading import load_builtins
from compiler.processor import runs_here
from compiler.target import load_target
from tests.support.kernel_harness import MACHINES, check
from tests.support.simd_cases import simd_cases

load_builtins()
pytestmark = pytest.mark.skipif(
    not runs_here(load_target("x86_avxvnni")), reason="this processor lacks its instructions"
)
KERNELS = sorted(k.name for k in all_kernels() if k.target == "x86_avxvnni")


@pytest.mark.parametrize("name", KERNELS)
def test_grid(name: str) -> None:
    MACHINES["host-sanitized"].require()
    check(simd_cases(kernel_named(name)), MACHINES["host-sanitized"])


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_grid_optimized(name: str) -> None:
    check(simd_cases(kernel_named(name)), MACHINES["host"].with_flags("-O3"))
