"""The memory map of a plan as plain values, for ``build.json`` and everything drawn from it."""

from __future__ import annotations

from typing import Any

from compiler.plan import Plan
from compiler.schedule import LiveBuffer


def memory_map(plan: Plan) -> dict[str, Any]:
    """Buffers with their bytes, offset and lifetime in steps, and the live bytes over time.

    ``live_bytes[i]`` is for time i - 1: before the first step, each step, after the last. A
    buffer's ``kind`` is "input", "output", "state", "activation" or "scratch".
    """
    tensors = _tensors_by_buffer(plan)
    ordered = sorted(plan.buffers, key=lambda b: (b.first, plan.offsets[b.name], b.name))
    return {
        "method": plan.method,
        "optimal": plan.optimal,
        "alignment": plan.schedule.alignment,
        "buffers": [
            {
                "name": buffer.name,
                "kind": _kind(plan, buffer, tensors.get(buffer.name, [])),
                "bytes": buffer.bytes,
                "offset": plan.offsets[buffer.name],
                "first": buffer.first,
                "last": buffer.last,
                "tensors": tensors.get(buffer.name, []),
            }
            for buffer in ordered
        ],
        "live_bytes": live_bytes(plan),
    }


def live_bytes(plan: Plan) -> list[int]:
    """Sum of the bytes of live buffers: before the first step, at each, after the last."""
    live = [0] * (len(plan.schedule.steps) + 2)
    for buffer in plan.buffers:
        for time in range(buffer.first, buffer.last + 1):
            live[time + 1] += buffer.bytes
    return live


def _tensors_by_buffer(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    graph = plan.schedule.graph
    found: dict[str, list[dict[str, Any]]] = {}
    for name, place in plan.schedule.places.items():
        tensor = graph.tensors[name]
        found.setdefault(place.buffer, []).append(
            {
                "name": name,
                "offset": place.offset,
                "bytes": tensor.bytes,
                "shape": list(tensor.shape),
                "dtype": tensor.dtype,
            }
        )
    for rows in found.values():
        rows.sort(key=lambda row: (row["offset"], row["name"]))
    return found


def _kind(plan: Plan, buffer: LiveBuffer, tensors: list[dict[str, Any]]) -> str:
    graph = plan.schedule.graph
    names = {row["name"] for row in tensors}
    if not names:
        return "scratch"
    if buffer.fixed:
        return "state"
    if names & {*graph.inputs}:
        return "input"
    return "output" if names & {*graph.outputs} else "activation"
