"""A profile as a trace that ui.perfetto.dev and chrome://tracing open.

Format: "Trace Event Format", Google, 2016 (JSON object form). Times are in microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PROCESS = 1
THREAD = 1


def trace_events(profile: Mapping[str, Any]) -> dict[str, Any]:
    """One slice per step, end to end, and a counter of the live bytes of the arena.

    A cycle or an instruction is shown as one nanosecond.
    """
    unit = profile["unit"]
    scale = "" if unit == "ns" else f" (1 ns = 1 {unit.removesuffix('s')})"
    events = [
        _label("process_name", f"{profile['board']}{scale}"),
        _label("thread_name", "steps"),
    ]
    start = 0.0
    for step in profile["steps"]:
        length = step["median"] / 1000
        events.append(_slice(step, start, length, unit))
        if step.get("live_bytes") is not None:
            events.append(_counter(start, step["live_bytes"]))
        start += length
    if any(event["ph"] == "C" for event in events):
        events.append(_counter(start, 0))
    other = {key: profile[key] for key in ("board", "unit", "runs", "total") if key in profile}
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": other}


def _label(kind: str, text: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": PROCESS, "tid": THREAD, "args": {"name": text}}


def _slice(step: Mapping[str, Any], start: float, length: float, unit: str) -> dict[str, Any]:
    keys = ("index", "name", "kernel", "macs", "live_bytes")
    return {
        "ph": "X",
        "name": step["operator"],
        "cat": "step",
        "ts": start,
        "dur": length,
        "pid": PROCESS,
        "tid": THREAD,
        "args": {key: step[key] for key in keys if key in step} | {unit: step["median"]},
    }


def _counter(time: float, live: int) -> dict[str, Any]:
    return {
        "ph": "C", "name": "arena bytes in use", "ts": time, "pid": PROCESS, "args": {"bytes": live}
    }  # fmt: skip
