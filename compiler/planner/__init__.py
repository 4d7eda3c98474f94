"""Gives buffers with known lifetimes offsets in one arena, as small as it can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.planner.bound import lower_bound
from compiler.planner.greedy import greedy
from compiler.schedule import LiveBuffer


@dataclass(frozen=True)
class Packing:
    """Offsets in bytes by buffer name; ``bytes`` is the end of the highest buffer."""

    offsets: Mapping[str, int]
    bytes: int
    lower_bound_bytes: int
    method: str  # which planner found it


def pack(buffers: Sequence[LiveBuffer], alignment: int) -> Packing:
    """The smallest packing found. Every offset is a multiple of ``alignment``."""
    bound = lower_bound(buffers, alignment)
    packing = greedy(buffers, alignment, bound)
    offsets = {b.name: offset for b, offset in zip(buffers, packing, strict=True)}
    height = max((offsets[b.name] + b.bytes for b in buffers), default=0)
    return Packing(offsets, height, bound, "greedy")
