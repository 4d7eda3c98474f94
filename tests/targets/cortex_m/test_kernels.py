"""Every kernel of cortex_m against the numpy meaning, over the shape grid, on emulated cores."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import pytest

from compiler.kernels import Kernel, all_kernels, kernel_named
from compiler.loading import load_builtins
from compiler.operators.convolution import DepthwiseConv2dParams
from compiler.operators.matrix import FullyConnectedParams
from tests.support import shape_grid
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.simd_cases import GRIDS, scale_cases, without_minimum

load_builtins()
KERNELS = [kernel for kernel in all_kernels() if kernel.target == "cortex_m"]
SOURCES = sorted({kernel.source for kernel in KERNELS})
WEIGHTED = ("conv2d", "depthwise_conv2d", "fully_connected")


#: Windows with code of their own, over even and odd widths.
SPECIAL = (
    *(
        shape_grid.same(shape_grid.Window(size, (3, 3), stride=(s, s)))
        for s in (1, 2) for size in ((4, 6), (5, 5), (1, 3), (2, 1))
    ),
    shape_grid.Window((6, 7), (3, 3)),
    shape_grid.Window((6, 7), (3, 3), stride=(2, 2)),
)  # fmt: skip


def special_depthwise_cases(kernel: Kernel) -> list[Case]:
    """3x3 windows with strides 1 and 2, each with every variant of clamp and zero points."""
    channels = itertools.cycle((1, 3, 4, 5, 8, 11, 16))
    shapes = [(window, next(channels)) for window in SPECIAL for _ in range(16)]
    cases = []
    for (window, c), variant in zip(shapes, shape_grid.variants("int8"), strict=False):
        params = DepthwiseConv2dParams(
            window.stride, window.dilation, window.padding, variant.clamp
        )  # fmt: skip
        shape = ((1, *window.input_hw, c), (1, *window.kernel, c), (1, *window.output_hw, c))
        cases.append(
            shape_grid.weighted_case(kernel, "depthwise_conv2d", params, shape, 3, variant)
        )
    return cases


def special_row_cases(kernel: Kernel) -> list[Case]:
    """One row of inputs, a multiple of 8, with every tail of outputs, clamp and zero points."""
    sizes = [(8, 1), (16, 2), (24, 3), (32, 4), (40, 5), (64, 6), (8, 7), (128, 8), (16, 13)]
    sizes = [size for size in sizes for _ in range(8)]
    return [
        shape_grid.weighted_case(
            kernel, "fully_connected", FullyConnectedParams(True, variant.clamp),
            ((1, depth), (outputs, depth), (1, outputs)), 0, variant,
        )
        for (depth, outputs), variant in zip(sizes, shape_grid.variants("int8"), strict=False)
    ]  # fmt: skip


def cases_of(name: str) -> list[Case]:
    """What the kernel fits of the grids, with weights of -128 and without, and of odd scales."""
    kernel = kernel_named(name)
    cases = []
    for op in kernel.ops:
        weighted = kernel_named(f"{op}_{kernel.dtypes[0]}__reference") if op in WEIGHTED else kernel
        cases += [replace(case, kernel=kernel) for case in GRIDS[op](weighted)]
    if kernel.dtypes != ("int8",):
        return shape_grid.fitting(cases)
    if kernel.ops[0] in WEIGHTED:
        cases += [without_minimum(case) for case in cases]
    if "depthwise_conv2d" in kernel.ops:
        cases += special_depthwise_cases(kernel)
    if "fully_connected" in kernel.ops:
        cases += special_row_cases(kernel)
        odd = scale_cases(kernel_named("fully_connected_int8__reference"))
        cases += [replace(case, kernel=kernel) for case in odd]
    return shape_grid.fitting(cases)


@functools.cache
def cases_of_source(source: str) -> tuple[Case, ...]:
    """Of all kernels in one header, which compile together."""
    return tuple(case for k in KERNELS if k.source == source for case in cases_of(k.name))


@pytest.mark.parametrize("source", SOURCES)
def test_grid_with_dsp(source: str) -> None:
    MACHINES["cortex-m4"].require()
    check(cases_of_source(source), MACHINES["cortex-m4"].with_flags("-O3"))


@pytest.mark.parametrize("source", SOURCES)
def test_grid_in_plain_c(source: str) -> None:
    check(cases_of_source(source), MACHINES["host-sanitized"])


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
@pytest.mark.parametrize("source", SOURCES)
def test_grid_at_every_level(source: str, level: str) -> None:
    """The assembly finds registers, or is left out."""
    MACHINES["cortex-m7"].require()
    check(cases_of_source(source), MACHINES["cortex-m7"].with_flags(level))


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["cortex-m0", "cortex-m3", "cortex-m7"])
@pytest.mark.parametrize("source", SOURCES)
def test_grid_on_other_cores(source: str, machine: str) -> None:
    MACHINES[machine].require()
    check(cases_of_source(source), MACHINES[machine])
