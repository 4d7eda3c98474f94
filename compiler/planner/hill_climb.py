"""Improves a placing order by swaps around the buffers that make the arena high.

The idea is that of the hill-climb allocator in Arm's Vela (ethos-u-vela): first fit decides the
offsets, so the order is all there is to search; only moving the topmost buffer, or one that it
rests on, can help.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from compiler.planner.greedy import first_fit
from compiler.planner.problem import Problem

SEED = 1
#: Buffers looked at in all, which bounds the time: a second or two.
WORK = 12_000_000
MAX_ITERATIONS = 20_000
#: Iterations without a better packing after which the search starts again from the best.
PATIENCE = 300
#: Share of swaps with any buffer at all instead of one that lives near.
FAR_SHARE = 0.3


def climb(problem: Problem, order: list[int], offsets: list[int]) -> list[int]:
    """Offsets no higher than those given, which are first fit's for ``order``.

    The same problem always gives the same answer: the seed is fixed, and the number of
    iterations depends on the problem only.
    """
    dice = random.Random(SEED)
    best = current = (order, offsets)
    lowest = height = problem.height(offsets)
    work = sum(len(n) for n in problem.neighbours) + len(order)
    stuck = 0
    for _ in range(min(MAX_ITERATIONS, WORK // work)):
        if lowest <= problem.bound:
            break
        candidate = _swapped(problem, *current, dice)
        new_height = problem.height(candidate[1])
        if new_height <= height:
            current, height = candidate, new_height
        stuck += 1
        if height < lowest:
            best, lowest, stuck = current, height, 0
        elif stuck >= PATIENCE:
            current, height, stuck = best, lowest, 0
    return best[1]


def _swapped(
    problem: Problem, order: Sequence[int], offsets: Sequence[int], dice: random.Random
) -> tuple[list[int], list[int]]:
    """A new order, with one buffer that is to blame for the height swapped with another."""

    def pick(items: Sequence[int]) -> int:
        # random() alone is promised to give the same numbers in every Python version.
        return items[int(dice.random() * len(items))]

    blamed = _blamed(problem, offsets)
    moved = pick(blamed)
    near = problem.neighbours[moved]
    other = pick(order) if not near or dice.random() < FAR_SHARE else pick(near)
    swapped = list(order)
    a, b = swapped.index(moved), swapped.index(other)
    swapped[a], swapped[b] = swapped[b], swapped[a]
    return swapped, first_fit(problem, swapped, offsets, min(a, b))


def _blamed(problem: Problem, offsets: Sequence[int]) -> list[int]:
    """A topmost buffer, and all that it rests on, directly or not."""
    ends = [offset + size for offset, size in zip(offsets, problem.sizes, strict=True)]
    top = max(range(len(ends)), key=lambda i: (offsets[i] + problem.buffers[i].bytes, -i))
    found, waiting = {top}, [top]
    while waiting:
        index = waiting.pop()
        below = [
            j
            for j in problem.neighbours[index]
            if offsets[index] and ends[j] == offsets[index] and j not in found
        ]
        found.update(below)
        waiting.extend(below)
    return sorted(found)
