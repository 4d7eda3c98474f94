"""A separate pad becomes the padding of the convolution or pool behind it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from compiler.graph import NO_CLAMP, Graph, Op, OpView
from compiler.operators.convolution import Conv2dParams, DepthwiseConv2dParams
from compiler.operators.elementwise import ClampParams
from compiler.operators.pooling import PoolParams
from compiler.passes.remove_dead_code import remove_dead_code

Edges = tuple[int, int, int, int]  # top, bottom, left, right

#: Files write it for minus infinity.
_LOWEST = float(np.finfo(np.float32).min)


def fold_padding(graph: Graph) -> Graph:
    """Each reader that can takes the pad over; the pad goes when no reader is left.

    A convolution pads with real 0, which is the zero point of a quantized tensor. A max pool
    leaves out what is outside, which is the same where the pad's value is no more than any other.
    """
    producers = graph.producers()
    ops: list[Op] = []
    for op in graph.ops:
        before = producers.get(op.inputs[0]) if op.inputs else None
        edges = _edges(graph.view(before)) if before else None
        if before is not None and edges is not None:
            made = producers.get(before.inputs[0])
            least = _least(graph.view(made)) if made else -math.inf
            params = _padded(op, edges, before.params.value, least)
            if params is not None:
                op = replace(op, inputs=(before.inputs[0], *op.inputs[1:]), params=params)
        ops.append(op)
    return remove_dead_code(graph.with_ops(ops))


def _edges(view: OpView) -> Edges | None:
    """The (top, bottom, left, right) of a pad around height and width only, with one value."""
    if view.op.kind != "pad" or len(view.input(0).shape) != 4:
        return None
    params = view.params
    same_scales = view.input(0).quant == view.output().quant
    if params.mode != "constant" or not same_scales:
        return None
    if any(params.before[axis] or params.after[axis] for axis in (0, 3)):
        return None
    return params.before[1], params.after[1], params.before[2], params.after[2]


def _least(view: OpView) -> float:
    """What no element of the output is below."""
    if isinstance(view.params, ClampParams):
        return view.params.low
    return float(getattr(view.params, "clamp", NO_CLAMP)[0])


def _padded(op: Op, edges: Edges, value: float, least: float) -> Any | None:
    """The parameters of ``op`` with ``edges`` added to its padding, None if that is not legal."""
    params = op.params
    if isinstance(params, (Conv2dParams, DepthwiseConv2dParams)) and value == 0:
        return replace(params, padding=_sum(params.padding, edges))
    if not isinstance(params, PoolParams):
        return None
    padding = _sum(params.padding, edges)
    if op.kind == "max_pool2d":
        fits = value <= max(least, _LOWEST) and _meets_the_image(params, padding)
        return replace(params, padding=padding) if fits else None
    # An average pool's own padding is left out of the mean, the pad's zeros are not.
    if value == 0 and (params.count_include_pad or not any(params.padding)):
        return replace(params, padding=padding, count_include_pad=True)
    return None


def _meets_the_image(params: PoolParams, padding: Edges) -> bool:
    """Whether no window lies in the padding alone."""
    height, width = params.kernel
    fits = max(padding[:2]) < height and max(padding[2:]) < width
    return params.dilation == (1, 1) and fits


def _sum(a: Edges, b: Edges) -> Edges:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]
