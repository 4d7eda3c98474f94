"""A clamp (ReLU, ReLU6, Clip) becomes part of the operator that makes its input."""

from __future__ import annotations

from dataclasses import replace

from compiler.graph import Graph, Op, Tensor
from compiler.operators.elementwise import ClampParams
from compiler.passes.rewrite import Uses

Range = tuple[float, float]


def fold_clamp(graph: Graph) -> Graph:
    """Fold where the clamp is the only reader; quantized, where both scales are the same.

    Then the requantization in between is by 1, so the integers are the same.
    """
    uses = Uses(graph)
    made: dict[str, Op] = {}  # by the name of the output
    ops: dict[str, Op] = {}  # by the name of the first output, in order
    for op in graph.ops:
        before = made.get(op.inputs[0]) if op.kind == "clamp" else None
        merged = _merged(graph, before, op, uses) if before is not None else None
        if before is not None and merged is not None:
            del ops[before.outputs[0]]
            op = merged
        ops[op.outputs[0]] = op
        made.update(dict.fromkeys(op.outputs, op))
    return graph.with_ops(ops.values()) if len(ops) < len(graph.ops) else graph


def _merged(graph: Graph, before: Op, clamp: Op, uses: Uses) -> Op | None:
    """``before`` with the clamp's limits and output, None where that would change results."""
    made, clamped = graph.tensors[clamp.inputs[0]], graph.tensors[clamp.outputs[0]]
    if uses.only_reader(made.name) is None or not _same_scales(made, clamped):
        return None
    limits = clamp.params.low, clamp.params.high
    if isinstance(before.params, ClampParams):
        low, high = compose((before.params.low, before.params.high), limits)
        return replace(before, outputs=clamp.outputs, params=ClampParams(low, high))
    if hasattr(before.params, "clamp") and len(before.outputs) == 1:
        params = replace(before.params, clamp=compose(before.params.clamp, limits))
        return replace(before, outputs=clamp.outputs, params=params)
    return None


def _same_scales(a: Tensor, b: Tensor) -> bool:
    return a.quant == b.quant and a.dtype == b.dtype


def compose(first: Range, second: Range) -> Range:
    """The clamp that does what ``first`` and then ``second`` do."""
    low, high = second
    return min(max(first[0], low), high), min(max(first[1], low), high)
