"""The least number of bytes any packing needs."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.schedule import LiveBuffer


def round_up(value: int, multiple: int) -> int:
    """The least multiple of ``multiple`` that is not below ``value``."""
    return -(-value // multiple) * multiple


def lower_bound(buffers: Sequence[LiveBuffer], alignment: int) -> int:
    """The largest sum of bytes that are live together.

    Offsets are multiples of ``alignment``, so each buffer counts rounded up, except the one that
    lies highest: the one whose rounding is largest is assumed to.
    """
    bound = 0
    for time in {b.first for b in buffers}:
        live = [b.bytes for b in buffers if b.first <= time <= b.last]
        rounded = [round_up(size, alignment) for size in live]
        slack = max(r - size for r, size in zip(rounded, live, strict=True))
        bound = max(bound, sum(rounded) - slack)
    return bound
