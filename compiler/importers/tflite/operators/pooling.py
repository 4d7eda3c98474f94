"""Pooling over windows."""

from __future__ import annotations

from typing import Any

from compiler.errors import UnsupportedError
from compiler.importers.tflite.node import Node, reads
from compiler.importers.tflite.operators.convolution import window_padding
from compiler.operators.elementwise import UnaryParams
from compiler.operators.pooling import PoolParams


def _pool_params(node: Node, options: Any) -> PoolParams:
    kernel = (options.FilterHeight(), options.FilterWidth())
    stride = (options.StrideH(), options.StrideW())
    padding = window_padding(node, options.Padding(), node.input(0), kernel, stride)
    return PoolParams(kernel, stride, padding=padding)


@reads("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool2d(node: Node) -> None:
    options = node.options("Pool2DOptions")
    kind = "average_pool2d" if node.kind == "AVERAGE_POOL_2D" else "max_pool2d"
    params = _pool_params(node, options)
    node.emit_activated(kind, (node.input(0),), params, options.FusedActivationFunction())


@reads("L2_POOL_2D")
def l2_pool2d(node: Node) -> None:
    """The root of the mean of squares."""
    options = node.options("Pool2DOptions")
    if options.FusedActivationFunction() != 0 or node.input(0).quant is not None:
        raise UnsupportedError("only a float L2_POOL_2D without activation is supported")
    square = node.inner("square", (node.input(0),), UnaryParams())
    mean = node.inner("average_pool2d", (square,), _pool_params(node, options))
    node.emit("sqrt", (mean,), UnaryParams())
