"""Mixed precision: the operators that hurt most keep 16-bit activations, or stay float.

The noise that each operator adds by itself is measured in 8 and in 16 bits. Where its weights are
what hurts, 16-bit activations do not help, and it stays float. Operators are ranked by the noise
that goes away for what it costs; the first of that list are kept, as few as an accuracy needs, or
as many as a latency or an arena allows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from compiler.arrays import Arrays
from compiler.errors import FitError
from compiler.executor import make_runner
from compiler.graph import Graph
from compiler.plan import plan
from compiler.quantization.budget import Budget
from compiler.quantization.convert import quantize
from compiler.quantization.scales import Ranges
from compiler.quantization.sensitivity import own_noise
from compiler.registry import count_macs
from compiler.report.progress import Progress, silent
from compiler.scheduler import make_schedule
from compiler.target import target_chain

#: The target whose kernels plan the arena: every board's model must come out the same.
TARGET = "reference"

#: What a multiply-accumulate with 16-bit activations costs, in those of int8; and a float one.
WIDE_COST, FLOAT_COST = 2.0, 4.0


#: 16 bits must take away this share of an operator's noise, or else it stays float.
WORTH = 0.75


class MixedWarning(UserWarning):
    """The accuracy that was asked for cannot be reached."""


@dataclass
class _Search:
    """The candidates, worst first, and what has been tried."""

    graph: Graph
    improved: Graph
    ranges: Ranges
    samples: Sequence[Arrays]
    budget: Budget
    ranked: list[tuple[str, str]]  # (output, precision)
    made: dict[int, Graph] = field(default_factory=dict)
    wanted: list[Arrays] = field(default_factory=list)

    def kept(self, count: int) -> Graph:
        """The model with the ``count`` worst operators in more than 8 bits."""
        if count not in self.made:
            chosen = dict(self.ranked[:count])
            precision = {
                id(op): chosen[op.outputs[0]]
                for op in self.graph.ops
                if op.outputs[0] in chosen
            }
            self.made[count] = quantize(self.graph, self.ranges, precision, self.improved)
        return self.made[count]

    def fits(self, count: int) -> bool:
        """Whether latency and arena are within the budget."""
        graph, budget = self.kept(count), self.budget
        if budget.latency is not None and _cost(graph) > budget.latency * _cost(self.kept(0)):
            return False
        if budget.ram_bytes is None:
            return True
        planned = plan(make_schedule(graph, target_chain(TARGET)))
        return planned.arena_bytes <= budget.ram_bytes

    def is_accurate(self, count: int) -> bool:
        found = _outputs(self.kept(count), self.samples)
        if not self.wanted:
            self.wanted = _outputs(self.graph, self.samples)
        signal = noise = changed = 0.0
        for exact, value in zip(self.wanted, found, strict=True):
            for name in self.graph.outputs:
                signal += float(np.square(exact[name], dtype=np.float64).sum())
                noise += float(np.square(exact[name] - value[name], dtype=np.float64).sum())
            name = self.graph.outputs[0]
            changed += int(exact[name].argmax() != value[name].argmax())
        if self.budget.sqnr_db is not None:
            return 10 * np.log10(signal / max(noise, 1e-30)) >= self.budget.sqnr_db
        assert self.budget.changed is not None
        return changed <= self.budget.changed * len(found)


def _outputs(graph: Graph, samples: Sequence[Arrays]) -> list[Arrays]:
    executor = make_runner(graph).open()
    return [executor.run(sample) for sample in samples]


def _cost(graph: Graph) -> float:
    total = 0.0
    for op in graph.ops:
        view = graph.view(op)
        dtype = view.inputs[0].dtype if view.inputs and view.inputs[0] is not None else ""
        factor = {"int16": WIDE_COST, "float32": FLOAT_COST}.get(dtype, 1.0)
        total += factor * (count_macs(view) or view.output().elements)
    return total


def _rank(
    graph: Graph, noise: Mapping[str, float], wide_noise: Mapping[str, float]
) -> list[tuple[str, str]]:
    """(output, precision) of every operator that 8 bits hurt, the best bargains first."""
    bargains = []
    producers = graph.producers()
    for name, power in noise.items():
        view = graph.view(producers[name])
        work = count_macs(view) or view.output().elements
        left = wide_noise.get(name, power)
        if power - left >= WORTH * power > 0:
            bargains.append(((power - left) / (work * (WIDE_COST - 1)), name, "int16"))
        elif power > 0:
            bargains.append((power / (work * (FLOAT_COST - 1)), name, "float"))
    bargains.sort(key=lambda bargain: (-bargain[0], bargain[1]))
    return [(name, precision) for _, name, precision in bargains]


def quantize_mixed(
    graph: Graph,
    improved: Graph,
    ranges: Ranges,
    samples: Sequence[Arrays],
    budget: Budget,
    progress: Progress = silent,
) -> Graph:
    """``improved`` (``graph`` with its weights prepared) within ``budget``.

    Raises FitError where even the int8 model exceeds the latency or RAM; warns where the accuracy
    cannot be reached within them.
    """
    int8 = quantize(graph, ranges, None, improved)
    all_wide = dict.fromkeys(map(id, graph.ops), "int16")
    wide = quantize(graph, ranges, all_wide, improved)
    ranked = _rank(graph, own_noise(graph, int8, samples), own_noise(graph, wide, samples))
    search = _Search(graph, improved, ranges, samples, budget, ranked, {0: int8})
    if not search.fits(0):
        raise FitError("--budget: even the int8 model exceeds it; allow more")
    most = _last(search.fits, len(ranked), progress)
    if not budget.has_accuracy:
        return search.kept(most)
    if search.is_accurate(0):
        return int8
    # The first that is accurate enough is one after the last that is not.
    count = _last(lambda k: not search.is_accurate(k), most, progress) + 1
    if count > most:
        warnings.warn(
            "--budget: the accuracy is not reached even with "
            f"{most} of {len(ranked)} operators in more than 8 bits; allow more latency or RAM",
            MixedWarning,
            stacklevel=2,
        )
        count = most
    return search.kept(count)


def _last(holds: Callable[[int], bool], most: int, progress: Progress) -> int:
    """The largest of 0..most for which ``holds``, by bisection; it is taken to hold for 0."""
    low, high = 0, most
    for _ in progress(range(max(most, 1).bit_length()), "choosing layers"):
        if low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low

