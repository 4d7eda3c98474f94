"""What each stage made, as text for people: ``--dump`` and ``--stop-after``."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.graph import Graph, Tensor
from compiler.plan import Plan
from compiler.schedule import Schedule


def describe(value: Graph | Schedule | Plan) -> str:
    """The value as lines of text, the same for the same value."""
    if isinstance(value, Graph):
        lines = graph_lines(value)
    elif isinstance(value, Schedule):
        lines = schedule_lines(value)
    else:
        lines = plan_lines(value)
    return "\n".join(lines) + "\n"


def _describe(tensor: Tensor) -> str:
    text = f"{tensor.name}: {tensor.dtype}{list(tensor.shape)}"
    if tensor.quant:
        quant = tensor.quant
        channels = f" x{len(quant.scale)}" if quant.per_channel else ""
        text += f" scale {quant.scale[0]:.6g}{channels} zero {quant.zero_point[0]}"
    return text + (" constant" if tensor.is_constant else " state" if tensor.is_state else "")


def graph_lines(graph: Graph) -> Iterator[str]:
    yield f"graph {graph.name}, numerics {graph.numerics}"
    for op in graph.ops:
        yield f"{op.kind} '{op.name}' {op.params}"
        for name in op.inputs:
            yield f"    <- {_describe(graph.tensors[name]) if name else '(absent)'}"
        for name in op.outputs:
            yield f"    -> {_describe(graph.tensors[name])}"
    yield f"inputs {', '.join(graph.inputs)}; outputs {', '.join(graph.outputs)}"


def schedule_lines(schedule: Schedule) -> Iterator[str]:
    for step in schedule.steps:
        op = step.view.op
        yield f"{step.index:3} {step.kernel.name} '{op.name}' {', '.join(op.inputs)}"
        yield f"    -> {', '.join(op.outputs)}, scratch {step.call.scratch_bytes} B"


def plan_lines(plan: Plan) -> Iterator[str]:
    yield f"arena {plan.arena_bytes} B, lower bound {plan.lower_bound_bytes} B"
    for buffer in plan.schedule.buffers:
        offset = plan.offsets[buffer.name]
        span = f"steps {buffer.first}..{buffer.last}"
        yield f"{offset:8} {buffer.bytes:8} B {span:14} {buffer.name}"
