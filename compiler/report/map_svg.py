"""Geometry of the memory map: time to the right, arena offset upwards, a box per buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.report.units import byte_text, exact_bytes, shape_text

#: All lengths are in CSS pixels.
LEFT, RIGHT, TOP = 76, 112, 18
HEIGHT = 440
LIVE_TOP, LIVE_HEIGHT = TOP + HEIGHT + 46, 84
LEAST_WIDTH, LEAST_COLUMN, MOST_COLUMN = 1260, 9, 130
CHARACTER = 6.6


@dataclass(frozen=True)
class Box:
    """A buffer, or the live bytes of one time."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str
    size: str
    title: str
    first: int
    last: int


@dataclass(frozen=True)
class Tick:
    position: float
    label: str


@dataclass(frozen=True)
class Line:
    """A level across the map."""

    y: float
    label: str
    kind: str


@dataclass(frozen=True)
class MemoryDrawing:
    """What the template draws; ``columns`` are the operators, by step."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    live_top: float
    live_bottom: float
    column: float
    boxes: tuple[Box, ...]
    live: tuple[Box, ...]
    byte_ticks: tuple[Tick, ...]
    time_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    live_lines: tuple[Line, ...]
    kinds: tuple[str, ...]


def draw_memory(
    memory: Mapping[str, Any], operators: Sequence[str], arena_bytes: int, bound_bytes: int
) -> MemoryDrawing:
    """Lay out ``memory_map``'s buffers and live bytes."""
    times = len(operators) + 2
    column = min(max((LEAST_WIDTH - LEFT - RIGHT) / times, LEAST_COLUMN), MOST_COLUMN)
    right = LEFT + times * column
    scale = HEIGHT / max(arena_bytes, 1)
    bottom = TOP + HEIGHT
    live_scale = LIVE_HEIGHT / max(arena_bytes, 1)
    buffers = memory["buffers"]
    return MemoryDrawing(
        width=right + RIGHT,
        height=LIVE_TOP + LIVE_HEIGHT + 28,
        left=LEFT,
        right=right,
        top=TOP,
        bottom=bottom,
        live_top=LIVE_TOP,
        live_bottom=LIVE_TOP + LIVE_HEIGHT,
        column=column,
        boxes=tuple(_buffer_box(b, operators, column, scale) for b in buffers),
        live=tuple(
            _live_box(time - 1, live, operators, column, live_scale)
            for time, live in enumerate(memory["live_bytes"])
        ),
        byte_ticks=tuple(
            Tick(bottom - value * scale, byte_text(value)) for value in nice_steps(arena_bytes)
        ),
        time_ticks=tuple(_time_ticks(times, column)),
        lines=tuple(_levels(arena_bytes, bound_bytes, bottom, scale)),
        live_lines=(Line(LIVE_TOP, "arena", "arena"),),
        kinds=tuple(dict.fromkeys(b["kind"] for b in buffers)),
    )


def nice_steps(limit: int, most: int = 8) -> list[int]:
    """Multiples of a power of two from 0 on, at most ``most``; none too near to ``limit``."""
    step = 1
    while limit // step > most:
        step *= 2
    return [value for value in range(0, limit + 1, step) if limit - value >= step * 0.4]


def _levels(arena_bytes: int, bound_bytes: int, bottom: float, scale: float) -> list[Line]:
    lines = [Line(bottom - arena_bytes * scale, f"arena {byte_text(arena_bytes)}", "arena")]
    if bound_bytes < arena_bytes:
        y = bottom - bound_bytes * scale
        y_label = f"bound {byte_text(bound_bytes)}"
        lines.append(Line(y, y_label, "bound"))
    return lines


def _time_ticks(times: int, column: float) -> list[Tick]:
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n * column >= 22)
    steps = [Tick(LEFT + (step + 1.5) * column, str(step)) for step in range(0, times - 2, every)]
    return [Tick(LEFT + column / 2, "in"), *steps, Tick(LEFT + (times - 0.5) * column, "out")]


def _buffer_box(
    buffer: Mapping[str, Any], operators: Sequence[str], column: float, scale: float
) -> Box:
    first, last = buffer["first"], buffer["last"]
    width = (last - first + 1) * column
    height = max(buffer["bytes"] * scale, 1.0)
    size = byte_text(buffer["bytes"])
    room = int((width - 10) / CHARACTER)
    return Box(
        x=LEFT + (first + 1) * column,
        y=TOP + HEIGHT - buffer["offset"] * scale - height,
        width=width,
        height=height,
        kind=buffer["kind"],
        label=_label(buffer, room) if height >= 16 else "",
        size=size if height >= 32 and len(size) <= room else "",
        title=_buffer_title(buffer, operators),
        first=first,
        last=last,
    )


def _label(buffer: Mapping[str, Any], room: int) -> str:
    """The name, or its end, which tells more than its start, or nothing."""
    if buffer["kind"] == "scratch":
        return "scratch" if room >= len("scratch") else ""
    name = str(buffer["name"])
    if len(name) <= room:
        return name
    return "…" + name[1 - room :] if room >= 4 else ""


def _buffer_title(buffer: Mapping[str, Any], operators: Sequence[str]) -> str:
    end = buffer["offset"] + buffer["bytes"]
    lines = [
        f"{buffer['name']} ({buffer['kind']})",
        exact_bytes(buffer["bytes"]),
        f"bytes {buffer['offset']:,} to {end - 1:,}",
        f"from {_time_name(buffer['first'], operators)} to {_time_name(buffer['last'], operators)}",
    ]
    tensors = buffer["tensors"]
    if len(tensors) > 1 or (tensors and tensors[0]["bytes"] < buffer["bytes"]):
        lines.append("holds")
    for tensor in tensors:
        where = f" at +{tensor['offset']:,}" if tensor["offset"] else ""
        lines.append(f"  {tensor['name']} {tensor['dtype']} {shape_text(tensor['shape'])}{where}")
    return "\n".join(lines)


def _live_box(time: int, live: int, operators: Sequence[str], column: float, scale: float) -> Box:
    height = live * scale
    return Box(
        x=LEFT + (time + 1) * column + 1,
        y=LIVE_TOP + LIVE_HEIGHT - height,
        width=column - 2,
        height=height,
        kind="live",
        label="",
        size="",
        title=f"{_time_name(time, operators)}\n{exact_bytes(live)} live",
        first=time,
        last=time,
    )


def _time_name(time: int, operators: Sequence[str]) -> str:
    if time < 0:
        return "before the first step"
    if time >= len(operators):
        return "after the last step"
    return f"step {time} ({operators[time]})"
