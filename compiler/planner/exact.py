"""The smallest packing there is, by OR-Tools' CP-SAT (extra ``solver``)."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.planner.problem import Problem

SEED = 1
#: CP-SAT's own measure of work, a few seconds each; unlike seconds it is the same everywhere.
DETERMINISTIC_TIME = 0.5
#: Up to here the measure holds; beyond, propagation that it does not count takes over.
LARGE = 200


@dataclass(frozen=True)
class Answer:
    """``offsets`` is None where nothing lower was found; ``proven``: where nothing can be."""

    offsets: list[int] | None
    proven: bool


def available() -> bool:
    return importlib.util.find_spec("ortools") is not None


def solve(
    problem: Problem, known: Sequence[int], deterministic_time: float = DETERMINISTIC_TIME
) -> Answer:
    """A packing lower than ``known``, if one is found in the time given.

    One worker and a fixed seed, so the same version of OR-Tools always gives the same answer.
    """
    unit, height = problem.alignment, problem.height(known)
    if not available() or height <= problem.bound:
        return Answer(None, height <= problem.bound)
    cp_model = importlib.import_module("ortools.sat.python.cp_model")  # takes half a second
    model = cp_model.CpModel()
    top = model.new_int_var(problem.bound, height - 1, "arena bytes")
    times, spaces, offsets = [], [], []
    for index, (buffer, size) in enumerate(zip(problem.buffers, problem.sizes, strict=True)):
        highest = (height - 1 - buffer.bytes) // unit
        if highest < 0:
            return Answer(None, True)
        offset = model.new_int_var(0, highest, buffer.name)
        model.add(unit * offset + buffer.bytes <= top)
        model.add_hint(offset, min(known[index] // unit, highest))
        offsets.append(offset)
        times.append(
            model.new_fixed_size_interval_var(
                buffer.first, buffer.last - buffer.first + 1, f"{index} time"
            )
        )
        spaces.append(model.new_fixed_size_interval_var(offset, size // unit, f"{index} space"))
    model.add_no_overlap_2d(times, spaces)
    model.minimize(top)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = SEED
    share = min(1.0, LARGE / len(problem.buffers))
    solver.parameters.max_deterministic_time = deterministic_time * share**2
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer(None, status == cp_model.INFEASIBLE)
    return Answer([unit * solver.value(o) for o in offsets], status == cp_model.OPTIMAL)
