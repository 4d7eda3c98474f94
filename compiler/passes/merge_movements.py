"""Movements of movements become one: transposes, slices, pads, concats.

A kind says in ``merged`` what two of its operators, one after the other, are as one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from compiler.graph import Graph, Op, OpView
from compiler.operators.movement import PadParams, SliceParams, TransposeParams
from compiler.passes.permutations import apply
from compiler.passes.remove_dead_code import remove_dead_code
from compiler.passes.rewrite import Uses
from compiler.registry import Attribute

MOST_PARTS = 48  # of a concat: a kernel call takes 64 operands

#: ``merged(first, second) -> params``: of the one operator that does what ``first``, and then
#: ``second``, which has the same kind and reads only that, do. None: there is no such operator.
merged: Attribute[Callable[[OpView, OpView], Any | None]] = Attribute("merged")


def merge_movements(graph: Graph) -> Graph:
    """The graph without movements that only another of their kind reads."""
    uses = Uses(graph)
    made: dict[str, Op] = {}
    ops: list[Op] = []
    for op in graph.ops:
        op = _concat(op, made, graph, uses) if op.kind == "concat" else _one(op, made, graph, uses)
        made.update(dict.fromkeys(op.outputs, op))
        ops.append(op)
    return remove_dead_code(graph.with_ops(ops))


def _one(op: Op, made: dict[str, Op], graph: Graph, uses: Uses) -> Op:
    before = made.get(op.inputs[0]) if op.inputs and op.kind in merged else None
    if before is None or before.kind != op.kind or uses.only_reader(op.inputs[0]) is None:
        return op
    params = merged[op.kind](graph.view(before), graph.view(op))
    return op if params is None else replace(op, inputs=before.inputs, params=params)


def _concat(op: Op, made: dict[str, Op], graph: Graph, uses: Uses) -> Op:
    """A concat takes over the parts of those of its parts that are concats along its axis."""
    output = graph.view(op).output()
    inputs: list[str] = []
    for name in op.inputs:
        before = made.get(name)
        parts: tuple[str, ...] = (name,)
        if before is not None and before.kind == "concat" and before.params == op.params:
            names = {*before.inputs, name}
            same = all(graph.tensors[n].quant == output.quant for n in names)
            few = len(before.inputs) + len(op.inputs) <= MOST_PARTS
            if same and few and op.inputs.count(name) == 1 and uses.only_reader(name) is not None:
                parts = before.inputs
        inputs += parts
    return replace(op, inputs=tuple(inputs)) if len(inputs) <= MOST_PARTS else op


@merged.of("transpose")
def _transposes(first: OpView, second: OpView) -> TransposeParams:
    return TransposeParams(apply(first.params.permutation, second.params.permutation))


@merged.of("slice")
def _slices(first: OpView, second: OpView) -> SliceParams:
    a, b = first.params, second.params
    steps = list(zip(a.begin, a.stride, b.begin, b.stride, strict=True))
    return SliceParams(
        begin=tuple(start + stride * begin for start, stride, begin, _ in steps),
        size=b.size,
        stride=tuple(outer * inner for _, outer, _, inner in steps),
    )


@merged.of("pad")
def _pads(first: OpView, second: OpView) -> PadParams | None:
    a, b = first.params, second.params
    quants = {first.input(0).quant, first.output().quant, second.output().quant}
    if a.mode != "constant" or b.mode != "constant" or a.value != b.value or len(quants) > 1:
        return None
    before = tuple(x + y for x, y in zip(a.before, b.before, strict=True))
    after = tuple(x + y for x, y in zip(a.after, b.after, strict=True))
    return replace(b, before=before, after=after)
