"""The memory map drawn in characters, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

STYLES = {
    "input": "green",
    "output": "magenta",
    "state": "red",
    "scratch": "yellow",
    "activation": "blue",
}
#: Neighbouring buffers of one kind are told apart by the two shades.
SHADES = "█▓"


def map_text(
    buffers: Sequence[Mapping[str, Any]], steps: int, *, columns: int = 96, rows: int = 16
) -> Text:
    """Time to the right (before the first step, the steps, after the last), offset downwards.

    A cell shows the buffer that holds its middle; with more steps than ``columns`` one column
    stands for several.
    """
    height = max((b["offset"] + b["bytes"] for b in buffers), default=0)
    if not height:
        return Text("(no buffers)")
    times = steps + 2
    cell = max(1, min(3, columns // times))
    shown = min(times, columns)
    picture = Text(no_wrap=True, overflow="crop")
    for row in range(rows):
        middle = (2 * row + 1) * height // (2 * rows)
        for column in range(shown):
            time = column * times // shown - 1
            index = _holder(buffers, time, middle)
            if index is None:
                picture.append("·" + " " * (cell - 1), style="bright_black")
            else:
                picture.append(SHADES[index % 2] * cell, style=STYLES[buffers[index]["kind"]])
        edge = {0: "0", rows - 1: f"{height:,} B"}.get(row, "")
        picture.append(f"  {edge}\n", style="bright_black")
    for kind in dict.fromkeys(b["kind"] for b in buffers):
        picture.append("█ ", style=STYLES[kind]).append(f"{kind}  ")
    return picture


def _holder(buffers: Sequence[Mapping[str, Any]], time: int, byte: int) -> int | None:
    for index, b in enumerate(buffers):
        if b["first"] <= time <= b["last"] and b["offset"] <= byte < b["offset"] + b["bytes"]:
            return index
    return None
