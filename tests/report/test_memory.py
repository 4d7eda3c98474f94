"""The memory map in build.json, and its picture for the terminal."""

from __future__ import annotations

from compiler.report.map_text import map_text
from compiler.report.memory import live_bytes, memory_map
from tests.report.examples import small_plan


def test_memory_map_has_every_buffer_with_its_kind_and_tensors() -> None:
    memory = memory_map(small_plan())
    keys = ("name", "kind", "bytes", "first", "last")
    assert [tuple(b[key] for key in keys) for b in memory["buffers"]] == [
        ("in", "input", 128, -1, 0),
        ("a", "activation", 256, 0, 1),
        ("scratch 0.1", "scratch", 64, 0, 0),
        ("out", "output", 10, 1, 2),
    ]  # fmt: skip
    held = next(b for b in memory["buffers"] if b["name"] == "a")["tensors"]
    assert [(t["name"], t["shape"]) for t in held] == [("a", [1, 8, 8, 4]), ("flat", [1, 256])]
    assert memory["optimal"]


def test_live_bytes_before_during_and_after() -> None:
    made = small_plan()
    assert live_bytes(made) == [128, 128 + 256 + 64, 256 + 10, 10]
    assert max(live_bytes(made)) == made.arena_bytes == 448


def test_the_picture_shows_each_buffer_at_its_time_and_offset() -> None:
    buffers = [
        {"name": "x", "kind": "input", "bytes": 50, "offset": 0, "first": -1, "last": 0},
        {"name": "y", "kind": "output", "bytes": 50, "offset": 50, "first": 0, "last": 1},
    ]
    lines = map_text(buffers, 1, columns=3, rows=2).plain.splitlines()
    assert lines == ["██·  0", "·▓▓  100 B", "█ input  █ output  "]


def test_a_long_schedule_fits_the_columns() -> None:
    buffers = [
        {"name": "x", "kind": "input", "bytes": 8, "offset": 0, "first": -1, "last": 500},
    ]
    first = map_text(buffers, 500, columns=40, rows=1).plain.splitlines()[0]
    assert first.startswith("█" * 40 + "  ")


def test_nothing_to_draw() -> None:
    assert map_text([], 0).plain == "(no buffers)"
