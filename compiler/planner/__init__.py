"""Gives buffers with known lifetimes offsets in one arena, as small as it can.

Cheapest first: greedy orders, a hill climb, an exact solver where one is installed. Each runs
only where those before it missed the lower bound, so a plan that meets the bound is the same
with and without the solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.planner import exact
from compiler.planner.greedy import best_of_orders
from compiler.planner.hill_climb import climb
from compiler.planner.problem import Problem
from compiler.schedule import LiveBuffer


@dataclass(frozen=True)
class Packing:
    """Offsets in bytes by buffer name; ``bytes`` is the end of the highest buffer."""

    offsets: Mapping[str, int]
    bytes: int
    lower_bound_bytes: int
    method: str  # the planner that found it: "greedy", "climb" or "exact"
    optimal: bool  # proven: it meets the bound, or the solver says that nothing is lower


def pack(buffers: Sequence[LiveBuffer], alignment: int, *, solver: bool = True) -> Packing:
    """The smallest packing found. Every offset is a multiple of ``alignment``.

    The same input gives the same packing, on any machine. ``solver``: use OR-Tools if it is
    installed and needed.
    """
    problem = Problem(tuple(buffers), alignment)
    order, offsets = best_of_orders(problem)
    method, optimal = "greedy", problem.height(offsets) <= problem.bound
    if not optimal:
        climbed = climb(problem, order, offsets)
        if problem.height(climbed) < problem.height(offsets):
            offsets, method = climbed, "climb"
        optimal = problem.height(offsets) <= problem.bound
    if not optimal and solver and exact.available():
        answer = exact.solve(problem, offsets)
        optimal = answer.proven
        if answer.offsets is not None:
            offsets, method = answer.offsets, "exact"
    by_name = {b.name: offset for b, offset in zip(problem.buffers, offsets, strict=True)}
    return Packing(by_name, problem.height(offsets), problem.bound, method, optimal)
