"""A separate pad becomes the padding of the convolution or average pool behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compiler.graph import Graph, Op, OpView
from compiler.operators.convolution import Conv2dParams, DepthwiseConv2dParams
from compiler.passes.remove_dead_code import remove_dead_code


def fold_padding(graph: Graph) -> Graph:
    """Each reader that can takes the pad over; the pad goes when no reader is left.

    A convolution pads with real 0, which is the zero point of a quantized tensor. A max pool
    pads with minus infinity, so it takes none.
    """
    producers = graph.producers()
    ops: list[Op] = []
    for op in graph.ops:
        before = producers.get(op.inputs[0]) if op.inputs else None
        edges = _spatial_zeros(graph.view(before)) if before else None
        if before is not None and edges is not None:
            params = _padded(op, edges)
            if params is not None:
                op = replace(op, inputs=(before.inputs[0], *op.inputs[1:]), params=params)
        ops.append(op)
    return remove_dead_code(graph.with_ops(ops))


def _spatial_zeros(view: OpView) -> tuple[int, int, int, int] | None:
    """(top, bottom, left, right) of a pad that puts zeros around height and width only."""
    if view.op.kind != "pad" or len(view.input(0).shape) != 4:
        return None
    params = view.params
    same_scales = view.input(0).quant == view.output().quant
    if params.mode != "constant" or params.value != 0.0 or not same_scales:
        return None
    if any(params.before[axis] or params.after[axis] for axis in (0, 3)):
        return None
    return params.before[1], params.after[1], params.before[2], params.after[2]


def _padded(op: Op, edges: tuple[int, int, int, int]) -> Any | None:
    """The parameters of ``op`` with ``edges`` added to its padding, None if that is not legal."""
    params = op.params
    if isinstance(params, (Conv2dParams, DepthwiseConv2dParams)):
        return replace(params, padding=_sum(params.padding, edges))
    # An average pool's own padding is left out of the mean, the pad's zeros are not.
    if op.kind == "average_pool2d" and (params.count_include_pad or not any(params.padding)):
        return replace(params, padding=_sum(params.padding, edges), count_include_pad=True)
    return None


def _sum(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]
