"""From a model file to blob and C: the stages, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.check import check_graph
from compiler.dump import dump_stage
from compiler.emit import Emitted, emit
from compiler.errors import UsageError
from compiler.graph import Graph
from compiler.importers import read_model
from compiler.loading import load_builtins, load_plugin
from compiler.options import BuildOptions
from compiler.passes import CANONICAL, FUSION, run_passes
from compiler.passes.io import convert_io
from compiler.plan import Plan, plan_memory
from compiler.quantization import quantize_graph
from compiler.schedule import Schedule, make_schedule
from compiler.targets import Target, target_chain

GRAPH_STAGES = ("read", "canonical", "quantized", "fused")
STAGES = (*GRAPH_STAGES, "schedule", "plan", "emit")


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


def lower_model(path: Path, options: BuildOptions) -> Graph:
    """The graph that is scheduled: read, canonical, quantized, fused. Raises KilnError."""
    load_builtins()
    for plugin in options.plugins:
        load_plugin(plugin)
    check_stage(options)
    graph = read_model(path, options.shapes).replace(numerics=options.numerics)
    graph = _checked("read", graph, options)
    graph = _checked("canonical", run_passes(graph, CANONICAL), options)
    graph = quantize_graph(graph, options)
    graph = _checked("quantized", convert_io(graph, options.io), options)
    return _checked("fused", run_passes(graph, FUSION), options)


def compile_model(path: Path, target: str, options: BuildOptions) -> Compiled:
    """The whole pipeline up to, and without, the C compiler. Raises KilnError."""
    graph = lower_model(path, options)
    chain = target_chain(target)
    schedule = make_schedule(graph, chain)
    dump_stage("schedule", schedule, options)
    plan = plan_memory(schedule)
    dump_stage("plan", plan, options)
    emitted = emit(plan, shared=options.optimize == "size")
    return Compiled(plan, emitted, chain)
