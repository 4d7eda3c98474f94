"""The planners against each other, brute force, the bound and the independent verifier."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.planner import exact, pack
from compiler.planner.greedy import best_of_orders
from compiler.planner.hill_climb import climb
from compiler.planner.problem import Problem, lower_bound
from compiler.planner.verify import faults
from compiler.schedule import LiveBuffer
from tests.planner.instances import network, tiling

needs_solver = pytest.mark.skipif(not exact.available(), reason="OR-Tools is not installed")


@st.composite
def problems(draw: st.DrawFn, most: int = 14) -> list[LiveBuffer]:
    spans = st.tuples(st.integers(-1, 8), st.integers(0, 6), st.integers(0, 300))
    return [
        LiveBuffer(f"b{i}", size, first, first + more)
        for i, (first, more, size) in enumerate(draw(st.lists(spans, max_size=most)))
    ]


def least_height(buffers: Sequence[LiveBuffer], alignment: int) -> int:
    """By trying every order: a best packing, pushed down, is first fit from low to high."""
    best = sum(-(-b.bytes // alignment) * alignment for b in buffers)
    for order in itertools.permutations(buffers):
        placed: list[tuple[int, LiveBuffer]] = []
        for buffer in order:
            offset = 0
            while any(
                low < offset + buffer.bytes
                and offset < low + other.bytes
                and other.first <= buffer.last
                and buffer.first <= other.last
                for low, other in placed
            ):
                offset += alignment
            placed.append((offset, buffer))
        best = min(best, max((low + b.bytes for low, b in placed), default=0))
    return best


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([1, 16, 64]))
def test_every_packing_is_sound_and_not_below_the_bound(
    buffers: list[LiveBuffer], alignment: int
) -> None:
    packing = pack(buffers, alignment, solver=False)
    assert not faults(buffers, packing.offsets, packing.bytes, alignment)
    assert packing.bytes >= packing.lower_bound_bytes
    assert packing.bytes == max((packing.offsets[b.name] + b.bytes for b in buffers), default=0)


@needs_solver
@settings(max_examples=40, deadline=None)
@given(problems(most=5), st.sampled_from([16, 64]))
def test_the_exact_planner_agrees_with_brute_force(
    buffers: list[LiveBuffer], alignment: int
) -> None:
    packing = pack(buffers, alignment)
    assert packing.optimal
    assert packing.bytes == least_height(buffers, alignment)


@pytest.mark.parametrize("seed", range(6))
def test_networks_reach_the_bound_without_the_solver(seed: int) -> None:
    buffers = network(seed, 60, 0.3)
    packing = pack(buffers, 16, solver=False)
    assert packing.bytes == packing.lower_bound_bytes and packing.optimal
    assert packing == pack(buffers, 16)


@needs_solver
def test_the_solver_packs_what_the_climb_cannot() -> None:
    buffers = tiling(61, 60, 60, 1000, 16)
    rough = pack(buffers, 16, solver=False)
    packing = pack(buffers, 16)
    assert rough.bytes > rough.lower_bound_bytes
    assert packing.bytes == packing.lower_bound_bytes == 16000
    assert packing.method == "exact" and packing.optimal
    assert not faults(buffers, packing.offsets, packing.bytes, 16)


def test_the_climb_improves_on_greedy_and_is_reproducible() -> None:
    problem = Problem(tuple(tiling(60, 60, 60, 1000, 16)), 16)
    order, offsets = best_of_orders(problem)
    climbed = climb(problem, list(order), list(offsets))
    assert problem.height(climbed) < 0.95 * problem.height(offsets)
    assert climbed == climb(problem, order, offsets)


@needs_solver
def test_the_solver_is_reproducible_when_its_time_runs_out() -> None:
    problem = Problem(tuple(tiling(7, 90, 60, 1000, 16)), 16)
    start = best_of_orders(problem)[1]
    first, second = (exact.solve(problem, start, deterministic_time=0.3) for _ in range(2))
    assert first == second


def test_the_bound_rounds_all_but_the_buffer_on_top() -> None:
    both = [LiveBuffer("a", 100, 0, 1), LiveBuffer("b", 10, 1, 2)]
    assert lower_bound(both, 64) == 128 + 10  # a below b
    assert pack(both, 64).bytes == 138
    assert lower_bound(both, 1) == 110


def test_nothing_to_pack() -> None:
    packing = pack([], 16)
    assert (packing.bytes, packing.lower_bound_bytes, packing.optimal) == (0, 0, True)


@pytest.mark.parametrize("alignment", [16, 64])
@pytest.mark.parametrize(
    ("sizes", "arena"),
    [
        ((640, 128, 128, 128, 8, 128, 128, 128, 640), 768),  # MLPerf Tiny ad
        ((490, 8000, 8000, 8000, 8000, 64, 12), 16000),  # kws
        ((27648, 18432, 36864, 9216, 18432, 2), 55296),  # vww
    ],
)
def test_a_chain_needs_its_two_largest_neighbours(
    sizes: Sequence[int], arena: int, alignment: int
) -> None:
    buffers = [LiveBuffer(f"t{i}", size, i - 1, i) for i, size in enumerate(sizes)]
    assert pack(buffers, alignment).bytes == arena
