"""Runs the float graph on samples and gives every activation a range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from compiler.errors import UsageError
from compiler.executor import Executor, make_runner
from compiler.graph import Graph
from compiler.quantization.choose import Range
from compiler.quantization.ranges import RANGE_METHODS, TensorStatistics
from compiler.report.progress import Progress, silent

Sample = Mapping[str, np.ndarray]


def collect_statistics(
    graph: Graph, samples: Sequence[Sample], progress: Progress = silent
) -> dict[str, TensorStatistics]:
    """Statistics of every float32 activation over ``samples``, one at a time.

    Raises UsageError if there is no sample or a tensor becomes NaN.
    """
    if not samples:
        raise UsageError("calibration: no samples; give at least one, better a hundred")
    statistics: dict[str, TensorStatistics] = {}

    def observe(name: str, value: np.ndarray) -> None:
        if value.dtype == np.float32 and value.size:
            statistics.setdefault(name, TensorStatistics(name)).update(value)

    computed = [name for op in graph.ops for name in op.outputs]
    executor: Executor = make_runner(graph, computed).open()
    for sample in progress(samples, "calibrating"):
        for name in graph.inputs:
            observe(name, np.asarray(sample[name]))
        executor.run(sample, observe)
    return statistics


def calibrate(
    graph: Graph, samples: Sequence[Sample], method: str = "mse", progress: Progress = silent
) -> dict[str, Range]:
    """(low, high) of every float32 activation; ``method`` is a key of RANGE_METHODS."""
    return choose_ranges(collect_statistics(graph, samples, progress).values(), method)


def choose_ranges(statistics: Iterable[TensorStatistics], method: str) -> dict[str, Range]:
    choose = RANGE_METHODS[method]
    return {each.name: choose(each) for each in statistics if each.low <= each.high}
