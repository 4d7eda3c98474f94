"""The verifier finds each kind of fault."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from compiler.planner.verify import faults
from compiler.schedule import LiveBuffer

BUFFERS = (LiveBuffer("a", 32, 0, 2), LiveBuffer("b", 16, 2, 3), LiveBuffer("c", 32, 3, 4))
SOUND = {"a": 0, "b": 32, "c": 0}


def test_a_sound_packing_has_no_faults() -> None:
    assert faults(BUFFERS, SOUND, 48, 16) == []


@pytest.mark.parametrize(
    ("offsets", "arena_bytes", "text"),
    [
        ({**SOUND, "b": 16}, 48, "'a' and 'b' overlap"),
        ({**SOUND, "b": 0}, 48, "'a' and 'b' overlap"),
        ({**SOUND, "c": 16}, 48, "'c' and 'b' overlap"),
        ({**SOUND, "c": 8}, 48, "'c' at 8 is not aligned to 16"),
        (SOUND, 47, "'b' reaches outside"),
        ({**SOUND, "c": -16}, 48, "'c' reaches outside"),
        ({"a": 0, "b": 32}, 48, "'c' has no offset"),
        ({**SOUND, "d": 0}, 48, "'d', which is no buffer"),
    ],
)
def test_faults(offsets: Mapping[str, int], arena_bytes: int, text: str) -> None:
    assert any(text in fault for fault in faults(BUFFERS, offsets, arena_bytes, 16))


def test_faulty_buffers() -> None:
    twice = (LiveBuffer("a", 4, 0, 1), LiveBuffer("a", 4, 3, 4))
    assert "same name" in faults(twice, {"a": 0}, 4, 4)[0]
    backwards = (LiveBuffer("a", 4, 3, 1),)
    assert "ends before it begins" in faults(backwards, {"a": 0}, 4, 4)[0]


def test_every_overlap_is_found_by_trying_all_bytes() -> None:
    for start in range(0, 64, 16):
        offsets = {**SOUND, "b": start}
        shared = any(
            a.name != b.name
            and {*range(a.first, a.last + 1)} & {*range(b.first, b.last + 1)}
            and {*range(offsets[a.name], offsets[a.name] + a.bytes)}
            & {*range(offsets[b.name], offsets[b.name] + b.bytes)}
            for a in BUFFERS
            for b in BUFFERS
        )
        assert bool(faults(BUFFERS, offsets, 128, 16)) == shared
