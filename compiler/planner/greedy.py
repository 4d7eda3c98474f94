"""Places buffers one after the other, each as low as those before allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compiler.planner.problem import Problem
from compiler.schedule import LiveBuffer

#: Orders in which placing buffers is worth a try: what comes first gets the low offsets.
ORDERS: tuple[Callable[[LiveBuffer], tuple[int, ...]], ...] = (
    lambda b: (-b.bytes, b.first),
    lambda b: (-b.bytes * (b.last - b.first + 1), b.first),
    lambda b: (b.first - b.last, -b.bytes),
    lambda b: (b.first, -b.bytes),
    lambda b: (-b.last, -b.bytes),
)


def first_fit(
    problem: Problem, order: Sequence[int], kept: Sequence[int] = (), start: int = 0
) -> list[int]:
    """Offsets: each buffer in the lowest gap that its neighbours placed before it leave.

    With ``kept``, the offsets of ``order[:start]`` are taken from there.
    """
    sizes, neighbours = problem.sizes, problem.neighbours
    offsets = [-1] * len(sizes)
    for index in order[:start]:
        offsets[index] = kept[index]
    for index in order[start:]:
        size, low = sizes[index], 0
        taken = sorted([(offsets[j], sizes[j]) for j in neighbours[index] if offsets[j] >= 0])
        for offset, length in taken:
            if offset - low >= size:
                break
            if offset + length > low:
                low = offset + length
        offsets[index] = low
    return offsets


def best_of_orders(problem: Problem) -> tuple[list[int], list[int]]:
    """The order and the offsets of the lowest packing among ``ORDERS``."""
    best: tuple[list[int], list[int]] = ([], [])
    lowest = -1
    indices = range(len(problem.buffers))
    for key in ORDERS:
        order = sorted(indices, key=lambda i: (key(problem.buffers[i]), i))
        offsets = first_fit(problem, order)
        height = problem.height(offsets)
        if lowest < 0 or height < lowest:
            best, lowest = (order, offsets), height
        if lowest <= problem.bound:
            break
    return best
