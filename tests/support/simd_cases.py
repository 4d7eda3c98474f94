"""Shape grids for kernels with packed weights: the common ones, and weights in bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from compiler.kernels import Kernel
from tests.support import shape_grid
from tests.support.kernel_harness import Case

GRIDS: dict[str, Callable[[Kernel], list[Case]]] = {
    "conv2d": shape_grid.conv2d_cases,
    "depthwise_conv2d": shape_grid.depthwise_cases,
    "fully_connected": shape_grid.fully_connected_cases,
}


def without_minimum(case: Case) -> Case:
    """The case with int8 weights of -127 to 127, for which kernels have shorter sums."""
    weight = case.view.input(1)
    assert weight.data is not None
    bounded = replace(weight, data=np.maximum(weight.data, -127))
    graph = case.view.graph
    graph = graph.replace(tensors={**graph.tensors, weight.name: bounded})
    inputs = (case.inputs[0], bounded.data, *case.inputs[2:])
    return replace(case, view=graph.view(case.view.op), inputs=inputs)


def weighted_cases(kernel: Kernel) -> list[Case]:
    """The grids of the kernel's operators; int8 once with and once without weights of -128."""
    cases = [case for op in kernel.ops for case in GRIDS[op](kernel)]
    if kernel.dtypes == ("int8",):
        cases = cases + [without_minimum(case) for case in cases]
    return cases
