"""Poolings over windows and over everything."""

from __future__ import annotations

from dataclasses import replace

from compiler.importers.onnx_model.node import Node, reads
from compiler.importers.onnx_model.windows import Window, from_image, read_window, to_image
from compiler.operators.movement import PadParams
from compiler.operators.pooling import PoolParams
from compiler.operators.reduction import ReduceParams


def _params(window: Window, count_include_pad: bool = False) -> PoolParams:
    return PoolParams(
        window.kernel, window.stride, window.dilation, window.padding, count_include_pad
    )


@reads("MaxPool")
def max_pool(node: Node) -> str:
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
