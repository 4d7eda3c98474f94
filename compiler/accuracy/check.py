"""``check``: how accurate a quantized model is, against its float version and on a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from compiler.accuracy import metrics
from compiler.accuracy.dataset import Dataset, load_dataset, sample_for
from compiler.accuracy.evaluate import Evaluation, Task, evaluate
from compiler.accuracy.layers import Layer, layer_pairs, layers_of, worst_layers
from compiler.accuracy.real import is_quantized, real_graph
from compiler.arrays import Arrays, TensorInfo
from compiler.board import Board
from compiler.emit import manifest_tensor
from compiler.errors import UsageError
from compiler.executor import make_runner
from compiler.graph import Graph
from compiler.options import BuildOptions
from compiler.passes.float_weights import use_float_weights
from compiler.pipeline import canonical_model, finish_model
from compiler.report.progress import Progress, silent

#: Layers are compared on this many samples, evenly spread; ratios settle soon.
LAYER_SAMPLES = 24

#: Without --calibration, each eighth sample calibrates, and the others are judged.
HELD_OUT = 8


VERSIONS = ("float", "quantized", "board")

#: Runs a graph on the board: its outputs for each sample, in order.
OnBoard = Callable[[Graph, Sequence[Arrays]], Sequence[Mapping[str, np.ndarray]]]


@dataclass(frozen=True)
class CheckOptions:
    """What is measured, of what, and by whom; the names are those of the command line."""

    data: Path
    labels: str | None = None
    metric: str | None = None
    limit: int | None = None
    workers: int = 1
    dask: str | None = None

    def __post_init__(self) -> None:
        for name in ("limit", "workers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"--{name} {value}: give 1 or more")


@dataclass(frozen=True, eq=False)
class Measured:
    """One metric, by version: "float", "quantized", "board"; without those that do not apply."""

    name: str
    values: Mapping[str, float]

    def to_json(self) -> dict[str, float | None]:
        return {version: self.values.get(version) for version in VERSIONS}


@dataclass(frozen=True, eq=False)
class CheckResult:
    """The first of ``measured`` is the metric that counts."""

    model: str
    board: str
    samples: int
    calibrated_on: int
    quantize: str
    how: str
    measured: tuple[Measured, ...]
    layers: tuple[Layer, ...]
    board_equal: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        first = self.measured[0]
        return {
            "model": self.model,
            "board_name": self.board,
            "samples": self.samples,
            "calibrated_on": self.calibrated_on,
            "quantize": self.quantize,
            "run_by": self.how,
            "metric": first.name,
            **first.to_json(),
            "board_equals_simulator": self.board_equal,
            "metrics": {each.name: each.to_json() for each in self.measured},
            "layers": [
                {
                    "name": layer.name,
                    "sqnr_db": round(layer.sqnr_db, 2),
                    "lost_db": round(layer.lost_db, 2),
                    "operator": layer.operator,
                    "try": list(layer.advice),
                }
                for layer in self.layers
            ],
            "worst": [self.layers[i].name for i in worst_layers(self.layers)],
        }


@dataclass(frozen=True, eq=False)
class _Versions:
    """The float graph, the one that is judged, and what both are run on."""

    float_graph: Graph
    graph: Graph
    dataset: Dataset
    calibrated_on: int
    given: tuple[TensorInfo, ...]


def check(
    model: Path,
    board: Board,
    options: BuildOptions,
    wanted: CheckOptions,
    *,
    on_board: OnBoard | None = None,
    progress: Progress = silent,
) -> CheckResult:
    """Measure the model on this machine, and on the board itself if ``on_board`` can run there.

    Raises KilnError.
    """
    own = None if wanted.metric is None else metrics.load_metric(wanted.metric)
    versions = _versions(model, options, wanted, progress)
    task = _task(versions, options)
    found = evaluate(
        task, versions.dataset.samples, workers=wanted.workers, dask=wanted.dask, progress=progress
    )
    layers = _layers(versions, task, options, progress)
    outputs = {"quantized": real_outputs(versions.graph, found.outputs)}
    board_equal = None
    if on_board is not None:
        from_board = _run_on_board(versions, task, on_board)
        outputs["board"] = real_outputs(versions.graph, from_board)
        board_equal = _same(versions.graph, from_board, found.outputs)
    outputs["float"] = found.float_outputs
    return CheckResult(
        model=versions.graph.name,
        board=board.name,
        samples=len(versions.dataset),
        calibrated_on=versions.calibrated_on,
        quantize=options.quantize,
        how=task.runner.how,
        measured=measure(outputs, versions.dataset.labels, wanted.metric, own),
        layers=tuple(layers),
        board_equal=board_equal,
    )


def _run_on_board(versions: _Versions, task: Task, on_board: OnBoard) -> Arrays:
    samples = [sample_for(each, task.given, task.inputs) for each in versions.dataset.samples]
    runs = on_board(versions.graph, samples)
    return {name: np.stack([run[name] for run in runs]) for name in versions.graph.outputs}


def _same(graph: Graph, found: Arrays, wanted: Arrays) -> bool:
    """Integers to the bit; floats that no integer stands behind within 1e-4 of their range."""
    for name in graph.outputs:
        exact, value = wanted[name].astype(np.float64), found[name].astype(np.float64)
        span = np.abs(exact[np.isfinite(exact)]).max(initial=0.0)
        is_float = graph.tensors[name].dtype.startswith("float")
        if not np.allclose(value, exact, rtol=0, atol=1e-4 * span if is_float else 0):
            return False
    return True


def _versions(
    model: Path, options: BuildOptions, wanted: CheckOptions, progress: Progress
) -> _Versions:
    canonical = canonical_model(model, options)
    dataset = load_dataset(canonical, wanted.data, wanted.labels)
    calibration = None
    if options.quantize != "none" and options.calibration is None:
        dataset, calibration = _hold_out(dataset)
    if wanted.limit is not None and wanted.limit < len(dataset):
        dataset = dataset.part(_spread(len(dataset), wanted.limit))
    graph = finish_model(canonical, options, progress, calibration)
    float_graph = canonical
    if is_quantized(canonical):
        float_graph = real_graph(use_float_weights(canonical))
    given = tuple(_info(canonical, name) for name in canonical.inputs)
    return _Versions(float_graph, graph, dataset, len(calibration or ()), given)


def _hold_out(dataset: Dataset) -> tuple[Dataset, Sequence[Arrays]]:
    """(what is judged, samples to calibrate by); too few samples serve as both."""
    chosen = range(0, len(dataset), HELD_OUT)
    rest = [i for i in range(len(dataset)) if i % HELD_OUT]
    if not rest:
        return dataset, dataset.samples
    return dataset.part(rest), dataset.part(chosen).samples


def _spread(count: int, wanted: int) -> list[int]:
    return [int(i) for i in np.linspace(0, count - 1, wanted).round()]


def _info(graph: Graph, name: str) -> TensorInfo:
    return TensorInfo.of(manifest_tensor(graph.tensors[name]))


def _task(versions: _Versions, options: BuildOptions) -> Task:
    float_graph, graph = versions.float_graph, versions.graph
    return Task(
        given=versions.given,
        float_inputs=tuple(_info(float_graph, name) for name in float_graph.inputs),
        inputs=tuple(_info(graph, name) for name in graph.inputs),
        float_runner=make_runner(float_graph, (), options.plugins),
        runner=make_runner(graph, (), options.plugins),
        is_stream=any(tensor.is_state for tensor in graph.tensors.values()),
    )


def _layers(
    versions: _Versions, task: Task, options: BuildOptions, progress: Progress
) -> list[Layer]:
    pairs = layer_pairs(versions.float_graph, versions.graph)
    observed = {pair.float_name for pair in pairs}, {pair.name for pair in pairs}
    task = replace(
        task,
        pairs=tuple(pairs),
        float_runner=make_runner(versions.float_graph, sorted(observed[0]), options.plugins),
        runner=make_runner(versions.graph, sorted(observed[1]), options.plugins),
    )
    count = len(versions.dataset)
    samples = versions.dataset.part(_spread(count, min(count, LAYER_SAMPLES))).samples
    found: Evaluation = evaluate(task, samples, progress=progress, what="comparing layers")
    return layers_of(versions.float_graph, pairs, found, options)


def real_outputs(graph: Graph, outputs: Mapping[str, np.ndarray]) -> Arrays:
    """Outputs as floats, dequantized where they are integers."""
    result = {}
    for name, value in outputs.items():
        tensor = graph.tensors[name]
        if tensor.quant is not None:
            value = (value.astype(np.float64) - tensor.zero_point) * tensor.scale
        result[name] = value.astype(np.float32)
    return result


def measure(
    outputs: Mapping[str, Arrays],
    labels: np.ndarray | None,
    metric: str | None = None,
    function: metrics.Metric | None = None,
) -> tuple[Measured, ...]:
    """Metrics of the versions in ``outputs``: "float", "quantized" and perhaps "board".

    ``function`` is the user's own, which was given as ``metric``.
    """
    measured: list[Measured] = []
    if metric is not None and function is not None:
        found = {name: function(each, labels) for name, each in outputs.items()}
        measured.append(Measured(metric.rpartition(":")[2], found))
    scores = {name: metrics.scores(each) for name, each in outputs.items()}
    classes = {name: found for name, found in scores.items() if found is not None}
    if len(classes) == len(outputs):
        if labels is not None and metrics.are_classes(labels, classes["float"].shape[1]):
            for count in (1, 5) if classes["float"].shape[1] > 5 else (1,):
                shares = {n: metrics.top_share(s, labels, count) for n, s in classes.items()}
                measured.append(Measured(f"top{count}", shares))
        measured.append(_against_float("agreement", classes, metrics.agreement))
    ratio = _against_float("sqnr_db", outputs, metrics.output_sqnr_db)
    has_metric = any("float" in each.values for each in measured)
    return (*measured, ratio) if has_metric else (ratio, *measured)


def _against_float(
    name: str, versions: Mapping[str, Any], compare: Callable[[Any, Any], float]
) -> Measured:
    found = {n: compare(versions["float"], v) for n, v in versions.items() if n != "float"}
    return Measured(name, found)
