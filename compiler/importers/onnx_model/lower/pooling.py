"""Poolings over windows and over everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from compiler.importers.onnx_model.node import Node, reads
from compiler.importers.onnx_model.windows import Window, from_image, read_window, to_image
from compiler.operators.indexing import ScatterElementsParams
from compiler.operators.movement import PadParams, SliceParams
from compiler.operators.pooling import PoolParams
from compiler.operators.reduction import ReduceParams


def _params(window: Window, count_include_pad: bool = False) -> PoolParams:
    return PoolParams(
        window.kernel, window.stride, window.dilation, window.padding, count_include_pad
    )


def _in_two(node: Node, reader: Callable[[Node], str]) -> str:
    """Pooling over depth, height and width as one over the last two, then one over depth.

    It is exact: what a window counts is the product of what each axis counts.
    """
    build = node.build
    batch, channels, depth, height, width = node.shape()
    x = build.transpose(node.input(), (0, 2, 1, 3, 4))
    x = build.reshape(x, (batch * depth, channels, height, width))
    y = reader(node.changed((x,), _spatial(node, (1, 2))))
    _, _, height, width = build.shape(y)
    y = build.reshape(y, (batch, depth, channels, height * width))
    y = build.transpose(y, (0, 2, 1, 3))
    y = reader(node.changed((y,), _spatial(node, (0, None))))
    return build.reshape(y, (batch, channels, -1, height, width))


def _spatial(node: Node, axes: Sequence[int | None]) -> dict[str, list[int]]:
    """The window attributes of two of the axes; an axis that is None has a window of one."""
    size = node.rank() - 2
    chosen = {}
    for name in ("kernel_shape", "strides", "dilations"):
        values = [int(v) for v in node.attribute(name, [1] * size)]
        chosen[name] = [1 if axis is None else values[axis] for axis in axes]
    pads = [int(p) for p in node.attribute("pads", [0] * (2 * size))]
    chosen["pads"] = [
        0 if axis is None else pads[axis + side * size] for side in (0, 1) for axis in axes
    ]
    return chosen


@reads("MaxPool")
def max_pool(node: Node) -> str:
    if node.rank() == 5:
        return _in_two(node, max_pool)
    window = read_window(
        node, node.required("kernel_shape"), bool(node.attribute("ceil_mode", 0))
    )
    x = to_image(node.build, node.input())
    y = node.build.emit("max_pool2d", x, params=_params(window))
    return from_image(node.build, y, node.rank())


@reads("AveragePool")
def average_pool(node: Node) -> str:
    """Where a partial last window meets counted padding, the padding becomes an operator.

    ONNX counts the declared padding but never what ``ceil_mode`` adds beyond it.
    """
    if node.rank() == 5:
        return _in_two(node, average_pool)
    kernel, counted = node.required("kernel_shape"), bool(node.attribute("count_include_pad", 0))
    declared = read_window(node, kernel)
    window = read_window(node, kernel, bool(node.attribute("ceil_mode", 0)))
    x = to_image(node.build, node.input())
    if counted and window.padding != declared.padding:
        both = zip(declared.padding, window.padding, strict=True)
        top, bottom, left, right = (min(pair) for pair in both)
        x = node.build.emit("pad", x, params=PadParams((0, top, left, 0), (0, bottom, right, 0)))
        excess = (0, window.padding[1] - bottom, 0, window.padding[3] - right)
        window, counted = replace(window, padding=excess), False
    y = node.build.emit("average_pool2d", x, params=_params(window, counted))
    return from_image(node.build, y, node.rank())


@reads("GlobalAveragePool", "GlobalMaxPool")
def global_pool(node: Node) -> str:
    kind = "mean" if node.kind == "GlobalAveragePool" else "reduce_max"
    axes = tuple(range(2, node.rank()))
    return node.build.emit(kind, node.input(), params=ReduceParams(axes, keep_dims=True))


@reads("LpPool")
def lp_pool(node: Node) -> str:
    """(sum of |x|^p)^(1/p): the mean with its padding counted, times the taps."""
    build, p = node.build, int(node.attribute("p", 2))
    kernel = [int(size) for size in node.required("kernel_shape")]
    x = _power(node, build.emit("abs", node.input()), float(p))
    mean = average_pool(node.changed((x,), {"count_include_pad": 1}))
    total = build.emit("mul", mean, build.like(mean, float(math.prod(kernel))))
    return _power(node, total, 1.0 / p)


@reads("GlobalLpPool")
def global_lp_pool(node: Node) -> str:
    build, p = node.build, int(node.attribute("p", 2))
    x = _power(node, build.emit("abs", node.input()), float(p))
    params = ReduceParams(tuple(range(2, node.rank())), keep_dims=True)
    return _power(node, build.emit("sum", x, params=params), 1.0 / p)


def _power(node: Node, x: str, exponent: float) -> str:
    build = node.build
    special = {1.0: "", 2.0: "square", 0.5: "sqrt"}
    if exponent not in special:
        return build.emit("pow", x, build.like(x, exponent))
    return build.emit(special[exponent], x) if special[exponent] else x


@reads("LRN")
def local_response_normalization(node: Node) -> str:
    """x / (bias + alpha * mean of squares over ``size`` channels)^beta, the outside being 0."""
    build, shape, x = node.build, node.shape(), node.input()
    size = int(node.required("size"))
    alpha, beta, bias = (
        float(node.attribute(name, default))
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    squares = build.reshape(build.emit("square", x), (shape[0], shape[1], -1, 1))
    before = (size - 1) // 2
    params = PoolParams((size, 1), padding=(before, size - 1 - before, 0, 0),
                        count_include_pad=True)  # fmt: skip
    mean = build.reshape(build.emit("average_pool2d", squares, params=params), shape)
    base = build.emit("add", build.emit("mul", mean, build.like(x, alpha)), build.like(x, bias))
    return build.emit("div", x, build.emit("pow", base, build.like(x, beta)))


@reads("MaxUnpool")
def max_unpool(node: Node) -> str:
    """Each value at its index into the flat output, the rest 0."""
    build, shape = node.build, node.shape()
    rank = len(shape) - 2
    kernel = [int(size) for size in node.required("kernel_shape")]
    strides = [int(size) for size in node.attribute("strides", [1] * rank)]
    pads = [int(size) for size in node.attribute("pads", [0] * (2 * rank))]
    inner = tuple(
        (size - 1) * stride - pads[i] - pads[i + rank] + width
        for i, (size, stride, width) in enumerate(zip(shape[2:], strides, kernel, strict=True))
    )
    full = (*shape[:2], *inner)
    zeros = build.constant(np.zeros(math.prod(full), node.dtype()), "zeros")
    places, values = (build.reshape(node.input(i), (-1,)) for i in (1, 0))
    y = build.emit("scatter_elements", zeros, places, values, params=ScatterElementsParams(0))
    y = build.reshape(y, full)
    if node.has(2):
        wanted = tuple(node.integers_at(2, "the output's shape"))
        after = tuple(w - size for w, size in zip(wanted, full, strict=True))
        if any(after):
            y = build.emit("pad", y, params=PadParams((0,) * len(full), after))
    return y


@reads("Col2Im")
def column_to_image(node: Node) -> str:
    """The sum of all blocks where they lie in the padded image, of which the padding goes."""
    build = node.build
    image, block = (node.integers_at(i, what) for i, what in ((1, "the image"), (2, "the block")))
    rank = len(image)
    dilations, strides = (
        [int(v) for v in node.attribute(name, [1] * rank)] for name in ("dilations", "strides")
    )
    pads = [int(p) for p in node.attribute("pads", [0] * (2 * rank))]
    padded = [size + pads[i] + pads[i + rank] for i, size in enumerate(image)]
    taps = np.indices(block).reshape(rank, -1)
    counts = [
        (size - (width - 1) * dilation - 1) // stride + 1
        for size, width, dilation, stride in zip(padded, block, dilations, strides, strict=True)
    ]
    starts = np.indices(counts).reshape(rank, -1)
    places = np.zeros((taps.shape[1], starts.shape[1]), np.int64)
    for axis in range(rank):
        at = taps[axis][:, None] * dilations[axis] + starts[axis][None] * strides[axis]
        places = places * padded[axis] + at
    batch, channels = node.shape()[0], node.shape()[1] // math.prod(block)
    rows = batch * channels
    indices = np.broadcast_to(places.reshape(1, -1), (rows, places.size))
    zeros = build.constant(np.zeros((rows, math.prod(padded)), node.dtype()), "zeros")
    y = build.emit(
        "scatter_elements", zeros, build.constant(indices, "places"),
        build.reshape(node.input(), (rows, -1)), params=ScatterElementsParams(1, "add"),
    )  # fmt: skip
    y = build.reshape(y, (batch, channels, *padded))
    if any(pads):
        params = SliceParams((0, 0, *pads[:rank]), (batch, channels, *image), (1,) * (rank + 2))
        y = build.emit("slice", y, params=params)
    return y
