"""Every reference kernel needs no libc; the products run on ARM and optimised as well."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.kernels import Kernel, all_kernels, kernel_named, kernels_of
from compiler.loading import load_builtins
from compiler.paths import TARGETS
from compiler.registry import params
from tests.support.kernel_harness import FLAGS, MACHINES, Case, check
from tests.support.shape_grid import (
    batch_matmul_cases,
    conv2d_cases,
    depthwise_cases,
    fully_connected_cases,
    pool_cases,
    transpose_conv2d_cases,
)

load_builtins()
HEADERS = sorted({k.source for k in all_kernels() if k.target == "reference"})
#: What a kernel may call: the runtime has these, and compilers add calls to them anyway.
ALLOWED = {"memcpy", "memset", "memmove"}
FUNCTION = re.compile(r"^KILN_KERNEL void (\w+__reference)\(", re.MULTILINE)


def test_every_operator_has_a_kernel() -> None:
    ours = [kind for kind in params if params[kind].__module__.startswith("compiler.")]
    missing = [kind for kind in ours if not kernels_of(kind, "reference")]
    assert not missing


def test_every_function_is_registered() -> None:
    """A kernel that is written out by name in a header is one that the compiler can choose."""
    written = {
        name for header in HEADERS
        for name in FUNCTION.findall((TARGETS / "reference" / "kernels" / header).read_text())
    }  # fmt: skip
    registered = {k.name for k in all_kernels() if k.target == "reference"}
    assert len(written) > 5
    assert written <= registered


@pytest.mark.parametrize("machine", ["host", pytest.param("cortex-m0", marks=pytest.mark.slow)])
def test_kernels_need_no_libc(machine: str, tmp_path: Path) -> None:
    compiler = MACHINES[machine]
    compiler.require()
    source = tmp_path / "all.c"
    # As functions with a name of their own, or nothing would be compiled.
    lines = ['#include "kernel.h"', "#undef KILN_KERNEL", "#define KILN_KERNEL"]
    source.write_text("\n".join([*lines, *(f'#include "reference/kernels/{h}"' for h in HEADERS)]))
    flags = [f for f in compiler.flags if not f.startswith(("--specs", "-Wl", "-static"))]
    done = subprocess.run(
        [compiler.compiler, *FLAGS, *flags, "-O0", "-ffreestanding", "-c", str(source),
         "-o", str(tmp_path / "all.o")],
        capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    tool = compiler.compiler.replace("gcc", "nm")
    listed = subprocess.run(
        [tool, "-u", str(tmp_path / "all.o")], capture_output=True, text=True, check=True
    )
    needed = {line.split()[-1] for line in listed.stdout.splitlines()}
    # Names that begin with two underscores are the compiler's own helpers (libgcc).
    assert {name for name in needed if not name.startswith("__")} <= ALLOWED


def pool(kernel: Kernel) -> list[Case]:
    return pool_cases(kernel, kernel.ops[0])


GRIDS: dict[str, Callable[[Kernel], list[Case]]] = {
    "conv2d": conv2d_cases,
    "depthwise_conv2d": depthwise_cases,
    "transpose_conv2d": transpose_conv2d_cases,
    "fully_connected": fully_connected_cases,
    "batch_matmul": batch_matmul_cases,
    "average_pool2d": pool,
    "max_pool2d": pool,
}


@pytest.mark.parametrize("machine", ["host", "aarch64", "cortex-m0", "cortex-m4"])
@pytest.mark.parametrize("dtype", ["int8", "int16", "float32"])
def test_grids_as_shipped(machine: str, dtype: str) -> None:
    MACHINES[machine].require()
    step = 3 if machine.startswith("cortex") else 1
    cases = [
        case
        for kind, grid in GRIDS.items()
        for case in grid(kernel_named(f"{kind}_{dtype}__reference"))[::step]
    ]
    check(cases, MACHINES[machine])
