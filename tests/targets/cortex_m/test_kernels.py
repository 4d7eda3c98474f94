"""Every kernel of cortex_m against the numpy meaning, over the shape grid, on emulated cores."""

from __future__ import annotations

import pytest

from compiler.kernels import all_kernels, kernel_named
from compiler.loading import load_builtins
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.simd_cases import weighted_cases

load_builtins()
KERNELS = sorted(k.name for k in all_kernels() if k.target == "cortex_m")


def cases_of(name: str) -> list[Case]:
    return weighted_cases(kernel_named(name))


@pytest.mark.parametrize("name", KERNELS)
def test_grid_with_dsp(name: str) -> None:
    MACHINES["cortex-m4"].require()
    check(cases_of(name), MACHINES["cortex-m4"])


@pytest.mark.parametrize("name", KERNELS)
def test_grid_in_plain_c(name: str) -> None:
    check(cases_of(name), MACHINES["host-sanitized"])


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["cortex-m0", "cortex-m3", "cortex-m7"])
@pytest.mark.parametrize("name", KERNELS)
def test_grid_on_other_cores(name: str, machine: str) -> None:
    MACHINES[machine].require()
    check(cases_of(name), MACHINES[machine])
