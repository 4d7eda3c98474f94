"""What every planner works on: sizes, who lives with whom, and the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from compiler.schedule import LiveBuffer


def round_up(value: int, multiple: int) -> int:
    """The least multiple of ``multiple`` that is not below ``value``."""
    return -(-value // multiple) * multiple


def lower_bound(buffers: Sequence[LiveBuffer], alignment: int) -> int:
    """The largest sum of bytes that are live together.

    Offsets are multiples of ``alignment``, so each buffer counts rounded up, except the one that
    lies highest: the one that rounding would add most to is assumed to.
    """
    bound = 0
    for time in {b.first for b in buffers}:
        live = [b.bytes for b in buffers if b.first <= time <= b.last]
        rounded = [round_up(size, alignment) for size in live]
        slack = max(r - size for r, size in zip(rounded, live, strict=True))
        bound = max(bound, sum(rounded) - slack)
    return bound


@dataclass(frozen=True)
class Problem:
    """Buffers to pack. An answer is a list of offsets in bytes, one for each."""

    buffers: tuple[LiveBuffer, ...]
    alignment: int

    @cached_property
    def bound(self) -> int:
        return lower_bound(self.buffers, self.alignment)

    @cached_property
    def sizes(self) -> list[int]:
        """Bytes rounded up, so that what lies on top of a buffer is aligned."""
        return [round_up(b.bytes, self.alignment) for b in self.buffers]

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """For each buffer those that are live at some step with it."""
        return [
            [
                j
                for j, b in enumerate(self.buffers)
                if j != i and a.first <= b.last and b.first <= a.last
            ]
            for i, a in enumerate(self.buffers)
        ]

    def height(self, offsets: Sequence[int]) -> int:
        """The end of the highest buffer; what follows it need not be aligned."""
        return max((o + b.bytes for o, b in zip(offsets, self.buffers, strict=True)), default=0)
