"""From a model file to blob and C: the stages, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from compiler import files
from compiler.arrays import Arrays
from compiler.dump import describe
from compiler.emit import Emitted, emit
from compiler.errors import Stopped
from compiler.exporters import check_suffix, write_model
from compiler.graph import Graph
from compiler.importers import read_model
from compiler.invariants import check_graph
from compiler.loading import load_builtins, load_plugin
from compiler.options import BuildOptions
from compiler.passes import CANONICAL, FUSION, run_passes
from compiler.passes.io import convert_io
from compiler.plan import Plan
from compiler.plan import plan as plan_memory
from compiler.quantization import quantize_graph
from compiler.report.progress import Progress, silent
from compiler.schedule import Schedule
from compiler.scheduler import make_schedule
from compiler.target import Target, target_chain


@dataclass(frozen=True, eq=False)
class Compiled:
    """Everything that goes into an image but the board's own code."""

    plan: Plan
    emitted: Emitted
    chain: tuple[Target, ...]

    @property
    def cflags(self) -> tuple[str, ...]:
        """Flags of the whole fallback chain, the most special target's last."""
        return tuple(flag for target in reversed(self.chain) for flag in target.cflags)


def canonical_model(path: Path, options: BuildOptions) -> Graph:
    """The graph before it is quantized: read and canonical. Raises KilnError."""
    if options.write_quantized is not None:
        check_suffix(options.write_quantized)
    load_builtins()
    for plugin in options.plugins:
        load_plugin(plugin)
    graph = read_model(path, options.shapes).replace(numerics=options.numerics)
    graph = _stage("read", graph, options)
    return _stage("canonical", run_passes(graph, CANONICAL), options)


def finish_model(
    graph: Graph,
    options: BuildOptions,
    progress: Progress = silent,
    samples: Sequence[Arrays] | None = None,
) -> Graph:
    """A canonical graph quantized and fused; ``samples`` calibrate instead of the options'."""
    graph = quantize_graph(graph, options, progress, samples)
    graph = _stage("quantized", convert_io(graph, options.io), options)
    if options.write_quantized is not None:
        write_model(graph, options.write_quantized)
    return _stage("fused", run_passes(graph, FUSION), options)


def lower_model(path: Path, options: BuildOptions, progress: Progress = silent) -> Graph:
    """The graph that is scheduled: read, canonical, quantized, fused. Raises KilnError."""
    return finish_model(canonical_model(path, options), options, progress)


def compile_model(
    path: Path, target: str, options: BuildOptions, progress: Progress = silent
) -> Compiled:
    """The whole pipeline up to, and without, the C compiler. Raises KilnError."""
    return schedule_model(lower_model(path, options, progress), target, options)


def schedule_model(graph: Graph, target: str, options: BuildOptions) -> Compiled:
    """The second half of the pipeline, for a graph that is quantized and fused already."""
    chain = target_chain(target)
    schedule = _stage("schedule", make_schedule(graph, chain), options)
    plan = _stage("plan", plan_memory(schedule), options)
    return Compiled(plan, emit(plan, shared=options.optimize == "size"), chain)


Stage = TypeVar("Stage", Graph, Schedule, Plan)


def _stage(name: str, value: Stage, options: BuildOptions) -> Stage:
    """Check what a stage made, write it for ``--dump``, stop for ``--stop-after``."""
    if isinstance(value, Graph):
        check_graph(value)
    if options.dump is not None:
        files.write_text(options.dump / f"{name}.txt", describe(value))
    if options.stop_after == name:
        raise Stopped(name, describe(value))
    return value
