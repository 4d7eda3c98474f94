"""Shape grids for kernels with packed weights: the common ones, and weights in bounds."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from compiler.kernels import Kernel
from compiler.operators.elementwise import ArithmeticParams
from compiler.operators.matrix import FullyConnectedParams
from compiler.operators.quantization import QuantizeParams
from tests.support import shape_grid
from tests.support.kernel_harness import Case


def without_minimum(case: Case) -> Case:
    """The case with int8 weights of -127 to 127, for which kernels have shorter sums."""
    weight = case.view.input(1)
    assert weight.data is not None
    bounded = replace(weight, data=np.maximum(weight.data, -127))
    graph = case.view.graph
    graph = graph.replace(tensors={**graph.tensors, weight.name: bounded})
    inputs = (case.inputs[0], bounded.data, *case.inputs[2:])
    return replace(case, view=graph.view(case.view.op), inputs=inputs)


def sum_cases(kernel: Kernel, kind: str) -> list[Case]:
    """Two int8 tensors of one shape: every tail, equal and far apart scales, both zero points."""
    sizes = (1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129)
    scales = itertools.cycle(((0.03, 0.03, 0.05), (0.5, 0.001, 0.4), (0.02, 0.07, 0.03)))
    cases = []
    for size, variant in zip(sizes * 2, shape_grid.variants("int8"), strict=False):
        first, second, last = next(scales)
        random = np.random.default_rng(variant.index)
        shape = [1, size]
        view = shape_grid.one_op(
            kind, ArithmeticParams(variant.clamp),
            [
                shape_grid.tensor("a", shape, "int8", first, variant.zero_points[0]),
                shape_grid.tensor("b", shape, "int8", second, -variant.index % 128),
            ],
            [shape_grid.tensor("y", shape, "int8", last, variant.zero_points[1])],
            variant.numerics,
        )  # fmt: skip
        a, b = (shape_grid.values(random, shape, "int8", variant.extreme) for _ in range(2))
        cases.append(Case(kernel, view, (a, b)))
    return shape_grid.fitting(cases)


def scale_cases(kernel: Kernel) -> list[Case]:
    """Dense layers whose channels have multipliers from 2^-40 to 2^4 and biases to match."""
    cases = []
    for numerics, zero_point in itertools.product(shape_grid.NUMERICS, (-128, 0, 127)):
        random = np.random.default_rng(zero_point + 128)
        exponents = random.uniform(-40, 4, 37)
        bias = np.clip(np.exp2(-exponents + 6), 1, 2**29) * random.choice([-1, 1], 37)
        x = random.integers(-128, 128, (3, 20)).astype(np.int8)
        w = random.integers(-127, 128, (37, 20)).astype(np.int8)
        scales = np.exp2(exponents).astype(np.float32)
        view = shape_grid.one_op(
            "fully_connected", FullyConnectedParams(),
            [
                shape_grid.tensor("x", x.shape, "int8", 1.0, 3),
                shape_grid.constant("w", w, scales),
                shape_grid.constant("b", bias.astype(np.int32), scales),
            ],
            [shape_grid.tensor("y", (3, 37), "int8", 1.0, zero_point)], numerics,
        )  # fmt: skip
        cases.append(Case(kernel, view, (x, w, bias.astype(np.int32))))
    assert all(kernel.fits(case.view) for case in cases)
    return cases


def conversion_cases(kernel: Kernel, kind: str) -> list[Case]:
    """float32 to int8 and back: every tail, ties, numbers beside ties, infinities and NaN."""
    steps = np.array([0.5, 1.5, -0.5, -2.5, 0.49999997, -0.49999997, 126.5, 1e9, -1e30], np.float32)
    special = np.concatenate([steps, [np.inf, -np.inf, np.nan, -0.0]]).astype(np.float32)
    cases = []
    for size, zero_point in itertools.product((1, 3, 16, 17, 64, 65, 200), (-128, -1, 0, 127)):
        random = np.random.default_rng(size)
        scale = (0.5, 0.0123)[size % 2]
        integers = shape_grid.tensor("q", [size], "int8", scale, zero_point)
        reals = shape_grid.tensor("r", [size], "float32")
        if kind == "quantize":
            x = random.normal(0, 60, size).astype(np.float32) * np.float32(scale)
            x[: len(special)] = special[:size] * np.float32(scale)
            view = shape_grid.one_op(kind, QuantizeParams(), [reals], [integers])
        else:
            x = random.integers(-128, 128, size).astype(np.int8)
            view = shape_grid.one_op(kind, QuantizeParams(), [integers], [reals])
        cases.append(Case(kernel, view, (x,)))
    return cases


WEIGHTED = ("conv2d", "depthwise_conv2d", "fully_connected")
GRIDS: dict[str, Callable[[Kernel], list[Case]]] = {
    "conv2d": shape_grid.conv2d_cases,
    "depthwise_conv2d": shape_grid.depthwise_cases,
    "add": functools.partial(sum_cases, kind="add"),
    "quantize": functools.partial(conversion_cases, kind="quantize"),
    "dequantize": functools.partial(conversion_cases, kind="dequantize"),
    "sub": functools.partial(sum_cases, kind="sub"),
    "fully_connected": shape_grid.fully_connected_cases,
    "max_pool2d": functools.partial(shape_grid.pool_cases, kind="max_pool2d"),
}


def simd_cases(kernel: Kernel) -> list[Case]:
    """The grids of the kernel's operators; of int8 weights every other pair lacks -128."""
    cases = [case for op in kernel.ops for case in GRIDS[op](kernel)]
    if kernel.dtypes == ("int8",) and kernel.ops[0] in WEIGHTED:
        cases = [without_minimum(c) if i // 2 % 2 else c for i, c in enumerate(cases)]
        if "fully_connected" in kernel.ops:
            cases += scale_cases(kernel)
    return cases
