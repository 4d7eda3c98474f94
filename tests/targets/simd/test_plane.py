"""A plane that is found sums all pairs of bytes as fixed point does."""

from __future__ import annotations

import sys

import numpy as np

from compiler.loading import load_builtins
from compiler.numerics import quantize_multiplier

load_builtins()
MODULE = sys.modules["kiln_targets.simd.plane"]


def rule(a: float, b: float, zero_points: tuple[int, int, int], sign: int = 1) -> object:
    largest = 2 * max(a, b)
    multipliers = (a / largest, b / largest, largest / 2**20)
    pairs = tuple(quantize_multiplier(m) for m in multipliers)
    return MODULE.Sum(pairs, 20, zero_points, (-128, 127), sign)


def test_ties_go_away_from_zero() -> None:
    halves = rule(0.5, 0.5, (0, 0, 0))
    plane = MODULE.exact_plane(halves)
    assert plane is not None and plane.nudge > 0
    # 1/2 + 0 is 1 and -1/2 + 0 is -1: row a + 128, column b + 128.
    table = plane.table(halves)
    assert table[129, 128] == 1 and table[127, 128] == -1


def test_most_scales_have_a_plane() -> None:
    random = np.random.default_rng(0)
    found = 0
    for sign in (1, -1) * 8:
        sums = rule(*random.uniform(0.1, 1.5, 2), tuple(random.integers(-128, 128, 3)), sign)
        plane = MODULE.exact_plane(sums)
        if plane is not None:
            found += 1
            # Apart from the search: sums of a few pairs in exact rationals of float32.
            table, wanted = plane.table(sums), sums.table()  # type: ignore[attr-defined]
            np.testing.assert_array_equal(table, wanted)
    assert found >= 12
