"""Post-training quantization: calibrate a float graph, then make it an integer one.

``quantize_graph`` does what the command line asks for; the steps are ``load_samples``,
``calibrate`` and ``quantize_int8``. ``rule.QuantizeRule`` is how an operator takes part.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.arrays import Arrays
from compiler.graph import Graph
from compiler.options import BuildOptions
from compiler.passes.float_weights import use_float_weights
from compiler.quantization import operators
from compiler.quantization.budget import parse_budget
from compiler.quantization.calibrate import calibrate, choose_ranges, collect_statistics
from compiler.quantization.convert import quantize, quantize_int8
from compiler.quantization.equalize import equalize
from compiler.quantization.half import use_half_weights
from compiler.quantization.mixed import quantize_mixed
from compiler.quantization.rounding import improve_weights
from compiler.quantization.rule import QuantizeRule
from compiler.quantization.samples import CalibrationWarning, load_samples
from compiler.report.progress import Progress, silent

__all__ = [
    "CalibrationWarning", "QuantizeRule", "calibrate", "load_samples", "operators",
    "quantize", "quantize_graph", "quantize_int8",
]  # fmt: skip


def quantize_graph(
    graph: Graph,
    options: BuildOptions,
    progress: Progress = silent,
    samples: Sequence[Arrays] | None = None,
) -> Graph:
    """``graph`` quantized as ``options`` say, or as it is. Raises KilnError.

    ``samples`` are what calibrates, by default those that the options name.
    """
    if options.quantize == "none":
        return graph
    graph = use_float_weights(graph)
    if options.quantize == "fp16":
        return use_half_weights(graph)
    if samples is None:
        samples = load_samples(graph, options.calibration)
    if options.equalize:
        graph = equalize(graph, samples, progress)
    statistics = collect_statistics(graph, samples, progress).values()
    ranges = {
        "int8": choose_ranges(statistics, options.ranges),
        "int16": choose_ranges(statistics, "minmax"),
    }
    improved = improve_weights(graph, samples, options.rounding, progress)
    if options.quantize == "int8":
        return quantize(graph, ranges, None, improved)
    if options.quantize == "int16x8":
        return quantize(graph, ranges, dict.fromkeys(map(id, graph.ops), "int16"), improved)
    budget = parse_budget(options.budget)
    return quantize_mixed(graph, improved, ranges, samples, budget, progress)
