"""Counts from a clock that is coarser than what it counts."""

import numpy as np
import pytest

from compiler.device.profile import settled_count


@pytest.mark.parametrize("count", range(1000, 1010))
def test_a_count_settles_whatever_the_phase(count: int) -> None:
    """25 MHz ticks of an emulator whose instructions take 64 ns: 1.6 ticks each."""
    tick = 0.625
    phases = np.linspace(0, 1, 11)[:-1]
    ticks = np.floor(count / tick + phases)
    assert settled_count(ticks * tick, tick) == count


def test_runs_that_differ_give_their_median() -> None:
    assert settled_count(np.array([10.0, 20.0, 90.0]), 0.625) == 20.0
