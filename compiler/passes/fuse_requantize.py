"""A change of scale right behind an integer operator that scales its result anyway goes into it.

Numerics ``tflite`` round twice, once for each scale, so there it goes only where the scale stays
and the zero point moves. Numerics ``fast`` round once: that is what they then mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from compiler.graph import Graph, Op, Tensor
from compiler.passes.fold_clamp import compose
from compiler.passes.rewrite import Uses
from compiler.registry import Attribute

#: ``rescales``: whether the quantized operator multiplies its result by what the output's scale
#: asks for, whatever that is, and limits it to its ``clamp``.
rescales: Attribute[bool] = Attribute("rescales")
rescales.of(
    "conv2d", "depthwise_conv2d", "transpose_conv2d", "fully_connected", "add", "sub", "mul"
)(True)


def fuse_requantize(graph: Graph) -> Graph:
    """The graph with such operators writing the scale that is wanted in the end."""
    uses = Uses(graph)
    made: dict[str, Op] = {}  # by the name of the first output, in order
    for op in graph.ops:
        before = _changed_scale(op, made, uses)
        if before:
            fused = _fused(graph, before[0], op)
            if fused is not None:
                for gone in before:
                    del made[gone.outputs[0]]
                op = fused
        made[op.outputs[0]] = op
    return graph.with_ops(made.values()) if len(made) < len(graph.ops) else graph


def _changed_scale(op: Op, made: Mapping[str, Op], uses: Uses) -> list[Op]:
    """The operator whose result ``op`` brings to another scale, and a dequantize in between."""
    if op.kind not in ("requantize", "quantize"):
        return []
    before = made.get(op.inputs[0])
    if before is None or uses.only_reader(op.inputs[0]) is None:
        return []
    if op.kind == "requantize":
        return [before] if before.kind in rescales else []
    first = made.get(before.inputs[0]) if before.kind == "dequantize" else None
    if first is None or first.kind not in rescales:
        return []
    return [first, before] if uses.only_reader(before.inputs[0]) is not None else []


def _fused(graph: Graph, op: Op, last: Op) -> Op | None:
    """``op`` with the output of ``last``, None where that would change results."""
    old, new = graph.tensors[op.outputs[0]], graph.tensors[last.outputs[0]]
    if old.dtype != new.dtype or old.quant is None or new.quant is None:
        return None
    if old.quant.per_channel or new.quant.per_channel:
        return None
    if old.scale == new.scale:
        params = replace(op.params, clamp=compose(op.params.clamp, _representable(old, new)))
        return replace(op, outputs=last.outputs, params=params)
    return replace(op, outputs=last.outputs) if graph.numerics == "fast" else None


def _representable(old: Tensor, new: Tensor) -> tuple[float, float]:
    """What ``old`` can hold, as a clamp, on the side where ``new`` holds more."""
    info = np.iinfo(old.dtype)
    low, high = ((limit - old.zero_point) * old.scale for limit in (info.min, info.max))
    return (
        low if new.zero_point > old.zero_point else -math.inf,
        high if new.zero_point < old.zero_point else math.inf,
    )
