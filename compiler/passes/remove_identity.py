"""Operators that change nothing go: a reshape to the same shape, a cast to the same type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from compiler.graph import DTYPE_BYTES, Graph, Op, OpView, Tensor
from compiler.passes.rewrite import Aliases, Uses
from compiler.registry import Attribute

#: ``is_identity(view) -> bool``, asked only where shape, dtype and scales stay the same.
is_identity: Attribute[Callable[[OpView], bool]] = Attribute("is_identity")


def remove_identity(graph: Graph) -> Graph:
    """The graph without them, and without dequantize-quantize pairs of the same scales."""
    aliases = Aliases(graph)
    uses = Uses(graph)
    kept: list[Op] = []
    for op in graph.ops:
        source = _same_as(graph.view(op)) or _round_trip(graph.view(op), uses)
        if source is None or not aliases.add(source, op.outputs[0]):
            kept.append(op)
    return aliases.apply(kept) if len(kept) < len(graph.ops) else graph


def _same_as(view: OpView) -> str | None:
    """The input that the only output equals."""
    decide = is_identity.get(view.op.kind)
    if decide is None or len(view.outputs) != 1 or not view.op.inputs[0]:
        return None
    x = view.input(0)
    return x.name if same_kind(x, view.output()) and decide(view) else None


def same_kind(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have the same shape, type and scales."""
    return (a.shape, a.dtype, a.quant) == (b.shape, b.dtype, b.quant)


def _round_trip(view: OpView, uses: Uses) -> str | None:
    """Where ``view`` undoes the operator before: the input of that one."""
    before = uses.producers.get(view.op.inputs[0]) if view.op.inputs else None
    if before is None or (before.kind, view.op.kind) not in _INVERSES:
        return None
    source, between = view.graph.tensors[before.inputs[0]], view.input(0)
    is_exact = _keeps_every_value(source, between)
    return source.name if is_exact and same_kind(source, view.output()) else None


#: Pairs of operators of which the second may undo the first.
_INVERSES = (("dequantize", "quantize"), ("requantize", "requantize"))


def _keeps_every_value(source: Tensor, between: Tensor) -> bool:
    """Whether each integer of ``source`` can be told from what it becomes in ``between``.

    float32 holds ``q * scale`` closely enough up to 2^16; int8 and uint8 of the same scale do
    where the zero points are as far apart as the types' least values.
    """
    if between.quant is None:
        return DTYPE_BYTES[source.dtype] <= 2
    if source.quant is None or source.quant.scale != between.quant.scale:
        return False
    if not {source.dtype, between.dtype} <= {"int8", "uint8"}:
        return False
    distance = int(np.iinfo(between.dtype).min) - int(np.iinfo(source.dtype).min)
    return between.zero_point - source.zero_point == distance


@is_identity.of(
    "reshape", "cast", "requantize", "pad", "concat", "split", "tile", "broadcast_to",
    "resize_nearest",
)  # fmt: skip
def _by_shape(view: OpView) -> bool:
    """Of the same shape, type and scales: then nothing has moved."""
    return True


@is_identity.of("slice")
def _whole(view: OpView) -> bool:
    return all(step > 0 for step in view.params.stride)


@is_identity.of("transpose")
def _in_order(view: OpView) -> bool:
    return bool(view.params.permutation == tuple(range(len(view.params.permutation))))


@is_identity.of("clamp")
def _unlimited(view: OpView) -> bool:
    return bool((view.params.low, view.params.high) == (float("-inf"), float("inf")))
