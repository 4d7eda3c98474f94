"""Places buffers one after the other, each as low as those before allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from compiler.planner.bound import round_up
from compiler.schedule import LiveBuffer

Neighbours = Sequence[Sequence[int]]

#: Orders in which placing buffers is worth a try: what comes first gets the low offsets.
ORDERS: tuple[Callable[[LiveBuffer], tuple[int, ...]], ...] = (
    lambda b: (-b.bytes, b.first),
    lambda b: (-b.bytes * (b.last - b.first + 1), b.first),
    lambda b: (b.first - b.last, -b.bytes),
    lambda b: (b.first, -b.bytes),
    lambda b: (-b.last, -b.bytes),
)


def neighbours(buffers: Sequence[LiveBuffer]) -> Neighbours:
    """For each buffer the indices of those that are live at some step with it."""
    return [
        [j for j, b in enumerate(buffers) if j != i and a.first <= b.last and b.first <= a.last]
        for i, a in enumerate(buffers)
    ]


def first_fit(order: Iterable[int], sizes: Sequence[int], near: Neighbours) -> list[int]:
    """Offsets: each buffer in the lowest gap that is free of its placed neighbours."""
    offsets = [-1] * len(sizes)
    for index in order:
        low = 0
        taken = sorted((offsets[j], offsets[j] + sizes[j]) for j in near[index] if offsets[j] >= 0)
        for start, end in taken:
            if start - low >= sizes[index]:
                break
            low = max(low, end)
        offsets[index] = low
    return offsets


def greedy(buffers: Sequence[LiveBuffer], alignment: int, bound: int) -> list[int]:
    """The lowest packing of ``ORDERS``; the first that reaches ``bound``."""
    sizes = [round_up(b.bytes, alignment) for b in buffers]
    near = neighbours(buffers)
    best: list[int] = []
    lowest = -1
    for key in ORDERS:
        order = sorted(range(len(buffers)), key=lambda i: (key(buffers[i]), i))
        offsets = first_fit(order, sizes, near)
        height = max((o + b.bytes for o, b in zip(offsets, buffers, strict=True)), default=0)
        if lowest < 0 or height < lowest:
            best, lowest = offsets, height
        if lowest <= bound:
            break
    return best
