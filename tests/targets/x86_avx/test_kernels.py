"""Every kernel of x86_avx against the numpy meaning, over the shape grid."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from compiler.kernels import all_kernels, kernel_named
from compiler.loading import load_builtins
from tests.support.kernel_harness import MACHINES, check
from tests.support.simd_cases import weighted_cases

load_builtins()
KERNELS = sorted(k.name for k in all_kernels() if k.target == "x86_avx")


def has_avx2() -> bool:
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    information = Path("/proc/cpuinfo")
    return not information.is_file() or " avx2 " in information.read_text()


@pytest.mark.skipif(not has_avx2(), reason="this machine has no AVX2")
@pytest.mark.parametrize("machine", ["host", "host-sanitized"])
@pytest.mark.parametrize("name", KERNELS)
def test_grid(name: str, machine: str) -> None:
    MACHINES[machine].require()
    check(weighted_cases(kernel_named(name)), MACHINES[machine])
