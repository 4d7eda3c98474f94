"""Shape grids for kernel tests: odd sizes, tails, strides, paddings, zero points, extremes.

Every function takes a registered kernel and gives the cases that the kernel fits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.graph import NO_CLAMP
from compiler.kernels import Kernel
from compiler.operators.convolution import (
    Conv2dParams,
    DepthwiseConv2dParams,
    TransposeConv2dParams,
)
from compiler.operators.matrix import BatchMatmulParams, FullyConnectedParams
from compiler.operators.pooling import PoolParams
from tests.support.kernel_harness import Case
from tests.support.operator_cases import (
    constant,
    fitting,
    one_op,
    tensor,
    values,
)

Padding = tuple[int, int, int, int]
NUMERICS = ("tflite", "fast")
CLAMPS = (NO_CLAMP, (0.0, np.inf), (0.0, 6.0), (-1.0, 1.0))
#: Input and output zero points of int8; uint8 adds 128, other types have none.
ZERO_POINTS = ((5, -3), (-128, 127), (127, -128), (0, 0))
CHANNELS = (
    (3, 8), (1, 1), (2, 3), (4, 4), (5, 7), (7, 5), (8, 16), (9, 2), (15, 17), (16, 1),
    (17, 33), (31, 9), (33, 31), (32, 32), (64, 12),
)  # fmt: skip


@dataclass(frozen=True)
class Window:
    """The spatial part of a convolution or pooling case."""

    input_hw: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: Padding = (0, 0, 0, 0)

    @property
    def output_hw(self) -> tuple[int, int]:
        pads = (self.padding[0] + self.padding[1], self.padding[2] + self.padding[3])
        height, width = (
            (size + pad - (k - 1) * d - 1) // s + 1
            for size, pad, k, d, s in zip(
                self.input_hw, pads, self.kernel, self.dilation, self.stride, strict=True
            )
        )
        return height, width


def same(window: Window) -> Window:
    """The window with TensorFlow's SAME padding."""
    pads: list[int] = []
    for size, k, d, s in zip(
        window.input_hw, window.kernel, window.dilation, window.stride, strict=True
    ):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        pads += [total // 2, total - total // 2]
    return Window(
        window.input_hw, window.kernel, window.stride, window.dilation,
        (pads[0], pads[1], pads[2], pads[3]),
    )  # fmt: skip


WINDOWS = (
    same(Window((5, 7), (3, 3))),
    Window((7, 6), (1, 1)),
    same(Window((6, 9), (3, 3), stride=(2, 2))),
    Window((9, 8), (3, 3), stride=(3, 3)),
    Window((6, 5), (1, 1), stride=(2, 2)),
    same(Window((8, 9), (3, 3), dilation=(2, 2))),
    Window((11, 9), (2, 3), stride=(2, 1), dilation=(3, 2)),
    Window((4, 5), (3, 3), padding=(2, 0, 1, 3)),
    same(Window((1, 1), (3, 3))),
    same(Window((3, 2), (5, 5), stride=(1, 2))),
    same(Window((12, 4), (10, 4), stride=(2, 2))),
    Window((2, 2), (2, 2), padding=(3, 3, 3, 3)),
    Window((1, 17), (1, 4), stride=(1, 3), padding=(0, 0, 3, 0)),
    same(Window((9, 1), (3, 1), stride=(2, 1))),
    Window((13, 1), (4, 1), dilation=(2, 1), padding=(1, 2, 0, 0)),
)


def shift_zero_points(dtype: str, zero_points: tuple[int, int]) -> tuple[int, int]:
    """int8 zero points as ``dtype`` has them."""
    if dtype == "int8":
        return zero_points
    return (zero_points[0] + 128, zero_points[1] + 128) if dtype == "uint8" else (0, 0)


@dataclass(frozen=True)
class Variant:
    """What goes round independently of the shapes; ``index`` also drives lesser choices."""

    index: int
    numerics: str
    clamp: tuple[float, float]
    zero_points: tuple[int, int]

    @property
    def extreme(self) -> bool:
        return self.index % 5 == 4


def variants(dtype: str) -> Iterator[Variant]:
    """Endless: numerics, clamps and zero points, cycled with coprime periods."""
    numerics = NUMERICS if not dtype.startswith("float") else ("tflite",)
    for index in itertools.count():
        yield Variant(
            index,
            numerics[index % len(numerics)],
            CLAMPS[index // 2 % len(CLAMPS)],
            shift_zero_points(dtype, ZERO_POINTS[index // 3 % len(ZERO_POINTS)]),
        )


def weighted_case(
    kernel: Kernel,
    kind: str,
    params: Any,
    shapes: tuple[Sequence[int], Sequence[int], Sequence[int]],
    channel_axis: int,
    variant: Variant,
) -> Case:
    """A case of an operator with weights and a bias: ``shapes`` of input, weight and output."""
    dtype = kernel.dtypes[0]
    random = np.random.default_rng(variant.index)
    is_float = dtype.startswith("float")
    input_shape, weight_shape, output_shape = shapes
    channels = weight_shape[channel_axis]
    depth = int(np.prod(weight_shape)) // channels
    x = values(random, input_shape, dtype, variant.extreme)
    weight_type = dtype if is_float or dtype == "uint8" else "int8"
    w = values(random, weight_shape, weight_type, variant.extreme)
    if is_float:
        tensors = [tensor("x", input_shape, dtype), constant("w", w)]
        bias = constant("b", values(random, [channels], dtype))
        output = tensor("y", output_shape, dtype)
    else:
        per_channel = dtype != "uint8" and variant.index % 4 != 3
        scales = random.uniform(0.002, 0.02, channels if per_channel else 1).astype(np.float32)
        input_scale = float(np.float32(0.03 if dtype != "int16" else 0.0002))
        levels = 60 if dtype != "int16" else 8000
        spread = float(np.sqrt(depth)) * 74 * levels * 1.2
        output_scale = float(np.float32(input_scale * scales.mean() * spread / levels))
        if variant.index % 11 == 10:  # multipliers above 1: a shift to the left
            output_scale = float(np.float32(input_scale * scales.min() / 3))
        weight_zero_point = 131 if dtype == "uint8" else 0
        tensors = [
            tensor("x", input_shape, dtype, input_scale, variant.zero_points[0]),
            constant("w", w, scales, weight_zero_point, channel_axis),
        ]
        accumulator = "int64" if dtype == "int16" else "int32"
        numbers = random.integers(-int(spread * 40), int(spread * 40), channels, endpoint=True)
        bias = constant("b", numbers.astype(accumulator), input_scale * scales)
        output = tensor("y", output_shape, dtype, output_scale, variant.zero_points[1])
    has_bias = variant.index % 7 != 6
    view = one_op(
        kind, params, [*tensors, bias if has_bias else None], [output], variant.numerics
    )
    return Case(kernel, view, (x, w, bias.data if has_bias else None))


def conv2d_cases(kernel: Kernel, groups: Sequence[int] = (1, 2, 4)) -> list[Case]:
    """conv2d in the dtype of the kernel: windows with three channel pairs each, 1x1 with all."""
    pairs = itertools.cycle(CHANNELS)
    shapes = [(window, next(pairs), 1) for window in WINDOWS for _ in range(4)]
    shapes += [(WINDOWS[1], pair, 1) for pair in CHANNELS]
    shapes += [(WINDOWS[i], (g * 3, g * 5), g) for g in groups if g > 1 for i in (0, 1, 2, 5, 7)]
    return fitting(_conv2d_cases(kernel, shapes))


def _conv2d_cases(
    kernel: Kernel, shapes: Iterable[tuple[Window, tuple[int, int], int]]
) -> Iterator[Case]:
    for (window, (c, o), groups), variant in zip(shapes, variants(kernel.dtypes[0]), strict=False):
        params = Conv2dParams(
            window.stride, window.dilation, window.padding, groups, variant.clamp
        )
        batch = 1 + variant.index % 2
        yield weighted_case(
            kernel, "conv2d", params,
            (
                (batch, *window.input_hw, c),
                (o, *window.kernel, c // groups),
                (batch, *window.output_hw, o),
            ),
            0, variant,
        )  # fmt: skip


def depthwise_cases(kernel: Kernel) -> list[Case]:
    """depthwise_conv2d: every window with several channel counts and depth multipliers."""
    depths = itertools.cycle(
        [(3, 1), (1, 1), (8, 1), (4, 2), (5, 3), (16, 1), (17, 1), (1, 8), (33, 1), (7, 2), (31, 1)]
    )
    shapes = [(window, next(depths)) for window in WINDOWS for _ in range(5)]
    return fitting(_depthwise_cases(kernel, shapes))


def _depthwise_cases(
    kernel: Kernel, shapes: Iterable[tuple[Window, tuple[int, int]]]
) -> Iterator[Case]:
    for (window, (c, multiplier)), variant in zip(shapes, variants(kernel.dtypes[0]), strict=False):
        params = DepthwiseConv2dParams(
            window.stride, window.dilation, window.padding, variant.clamp
        )
        batch = 1 + variant.index % 2
        yield weighted_case(
            kernel, "depthwise_conv2d", params,
            (
                (batch, *window.input_hw, c),
                (1, *window.kernel, c * multiplier),
                (batch, *window.output_hw, c * multiplier),
            ),
            3, variant,
        )  # fmt: skip


def fully_connected_cases(kernel: Kernel) -> list[Case]:
    """fully_connected: rows 1 to 5 with every tail of inputs and outputs."""
    depths = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 130)
    outputs = itertools.cycle((10, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33))
    return fitting(
        weighted_case(
            kernel, "fully_connected", FullyConnectedParams(True, variant.clamp),
            ((*rows, depth), (o := next(outputs), depth), (*rows, o)), 0, variant,
        )
        for (depth, rows), variant in zip(
            itertools.product(depths, ((1,), (2,), (3, 1), (5,))),
            variants(kernel.dtypes[0]), strict=False,
        )
    )  # fmt: skip


def transpose_conv2d_cases(kernel: Kernel) -> list[Case]:
    """transpose_conv2d: windows seen from the output, with a few channel pairs each."""
    pairs = itertools.cycle(CHANNELS[:9])
    shapes = [(window, next(pairs)) for window in WINDOWS if min(window.output_hw) > 0] * 2
    return fitting(_transpose_conv2d_cases(kernel, shapes))


def _transpose_conv2d_cases(
    kernel: Kernel, shapes: Iterable[tuple[Window, tuple[int, int]]]
) -> Iterator[Case]:
    for (window, (c, o)), variant in zip(shapes, variants(kernel.dtypes[0]), strict=False):
        params = TransposeConv2dParams(
            window.input_hw, window.stride, window.dilation, window.padding, variant.clamp
        )
        batch = 1 + variant.index % 2
        yield weighted_case(
            kernel, "transpose_conv2d", params,
            (
                (batch, *window.output_hw, c),
                (o, *window.kernel, c),
                (batch, *window.input_hw, o),
            ),
            0, variant,
        )  # fmt: skip


#: Batch dimensions of both operands, then rows, depth and columns.
MATMULS = (
    ((), (), 1, 1, 1), ((), (), 3, 7, 5), ((2,), (2,), 4, 16, 17), ((3,), (1,), 5, 8, 33),
    ((), (2,), 2, 3, 4), ((2, 1), (3,), 3, 9, 2), ((2, 3, 1), (2, 1, 4), 2, 5, 16),
    ((1, 2, 1, 2, 1, 1), (2, 1, 3, 1, 1, 2), 2, 4, 3), ((), (), 1, 64, 20),
)  # fmt: skip


def batch_matmul_cases(kernel: Kernel) -> list[Case]:
    """batch_matmul: broadcast batches, each with every combination of transposes."""
    grid = itertools.product(MATMULS, (False, True), (False, True))
    return fitting(
        _batch_matmul_case(kernel, sizes, BatchMatmulParams(first, second), variant)
        for (sizes, first, second), variant in zip(
            grid, variants(kernel.dtypes[0]), strict=False
        )
    )


def _batch_matmul_case(
    kernel: Kernel, sizes: tuple[Any, ...], params: BatchMatmulParams, variant: Variant
) -> Case:
    batch_a, batch_b, rows, depth, columns = sizes
    shapes = (
        (*batch_a, *((depth, rows) if params.transpose_a else (rows, depth))),
        (*batch_b, *((columns, depth) if params.transpose_b else (depth, columns))),
        (*np.broadcast_shapes(batch_a, batch_b), rows, columns),
    )
    dtype, random = kernel.dtypes[0], np.random.default_rng(variant.index)
    is_float = dtype.startswith("float")
    scale = 0.0 if is_float else 0.03 if dtype != "int16" else 0.0002
    spread = 100 * np.sqrt(depth) if dtype != "int16" else 25000 * np.sqrt(depth)
    scales = [float(np.float32(s)) for s in (scale, scale * 1.1, scale * scale * spread)]
    zero_points = (*variant.zero_points, variant.zero_points[0])
    tensors = [
        tensor(name, shape, dtype, each, zero_point)
        for name, shape, each, zero_point in zip("aby", shapes, scales, zero_points, strict=True)
    ]
    view = one_op("batch_matmul", params, tensors[:2], tensors[2:], variant.numerics)
    arrays = tuple(values(random, shape, dtype, variant.extreme) for shape in shapes[:2])
    return Case(kernel, view, arrays)


def pool_cases(kernel: Kernel, kind: str) -> list[Case]:
    """average_pool2d or max_pool2d: every window whose padding leaves it a tap of the image."""
    channels = itertools.cycle((3, 1, 8, 16, 17, 33, 5))
    padded = Window((4, 5), (3, 3), padding=(2, 0, 1, 2))
    fit = [w for w in (*WINDOWS, padded) if max(w.padding) < min(w.kernel) or w.kernel == (1, 4)]
    shapes = [(window, next(channels)) for window in fit for _ in range(3)]
    whole = Window((7, 6), (7, 6))
    shapes += [(whole, c) for c in (1, 5, 16, 40)]
    return fitting(_pool_cases(kernel, kind, shapes))


def _pool_cases(
    kernel: Kernel, kind: str, shapes: Iterable[tuple[Window, int]]
) -> Iterator[Case]:
    dtype = kernel.dtypes[0]
    for (window, c), variant in zip(shapes, variants(dtype), strict=False):
        includes = kind == "average_pool2d" and variant.index % 3 == 2
        params = PoolParams(
            window.kernel, window.stride, window.dilation, window.padding, includes, variant.clamp
        )
        batch = 1 + variant.index % 2
        scale = 0.0 if dtype == "float32" else 0.03
        zero_point = variant.zero_points[0]
        x = tensor("x", (batch, *window.input_hw, c), dtype, scale, zero_point)
        y = tensor("y", (batch, *window.output_hw, c), dtype, scale, zero_point)
        random = np.random.default_rng(variant.index)
        view = one_op(kind, params, [x], [y], variant.numerics)
        yield Case(kernel, view, (values(random, x.shape, dtype, variant.extreme),))
