"""What the command line does, as functions. ``import compiler`` offers them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from compiler import files
from compiler.accuracy.check import CheckOptions, CheckResult
from compiler.accuracy.check import check as check_model
from compiler.arrays import Arrays, TensorInfo, collect_outputs, make_series, read_npz
from compiler.blob import read_blob
from compiler.board import Board, board_names, load_board
from compiler.device import firmware
from compiler.device.client import Client
from compiler.device.profile import Profile, collect_profile
from compiler.device.runners import flash_image, open_stream
from compiler.device.session import Session, open_session
from compiler.emit import manifest_tensor
from compiler.errors import KilnError as KilnError
from compiler.firmware_export.formats import export_build
from compiler.graph import Graph, OpView
from compiler.image import read_image
from compiler.kernels import all_kernels
from compiler.loading import load_builtins, load_plugin
from compiler.manifest import FILE_NAME, Build, model_manifest, read_build
from compiler.options import BuildOptions
from compiler.pipeline import Compiled, compile_model, lower_model, schedule_model
from compiler.registry import count_macs, op_class, params
from compiler.report.progress import Progress, silent
from compiler.sample import sample_calibration, sample_model
from compiler.simulator import Simulator
from compiler.target import load_target, target_chain, target_names

Inputs = Mapping[str, np.ndarray] | Path | str


@dataclass(frozen=True, eq=False)
class RunResult:
    """Outputs of one or more runs: ``NAME`` and, where quantized, ``NAME.float``."""

    outputs: Arrays
    runs: int
    seconds: float


def build(
    model: Path | str | None = None,
    *,
    board: str,
    out: Path | str | None = None,
    options: BuildOptions | None = None,
    progress: Progress = silent,
) -> Build:
    """Compile ``model`` (the sample that ships, by default) into ``out`` for ``board``.

    The folder then holds ``model.blob``, ``model_kernels.c``, ``kiln_model.h``, the image and
    ``build.json``. Raises KilnError; a build that fails leaves the one before it as it was.
    """
    path, options = _model_and_options(model, options)
    for plugin in options.plugins:
        load_plugin(plugin)
    target_board = load_board(board)
    data = files.read_bytes(path, "model")
    compiled = compile_model(path, target_board.target, options, progress)
    return _write_build(compiled, data, target_board, out, options)


def _write_build(
    compiled: Compiled,
    data: bytes,
    target_board: Board,
    out: Path | str | None,
    options: BuildOptions,
) -> Build:
    folder = Path(out) if out is not None else default_folder(target_board.name)
    manifest = model_manifest(compiled.plan, compiled.emitted, data)
    with files.staged(folder, last=FILE_NAME) as stage:
        files.write_bytes(stage / "model.blob", compiled.emitted.blob)
        files.write_text(stage / "model_kernels.c", compiled.emitted.code.text)
        files.write_text(stage / "kiln_model.h", compiled.emitted.header)
        image = firmware.build_image(
            target_board,
            stage,
            options.toolchain,
            compiled.cflags,
            options.optimize,
            folder / "cmake",
        )
        manifest |= {
            "board": target_board.name,
            "image": str(image.path.relative_to(stage)),
            "flash_bytes": dict(image.flash_bytes),
            "tools": dict(image.tools),
        }
        files.write_json(stage / FILE_NAME, manifest)
    return Build(folder, manifest)


def _model_and_options(
    model: Path | str | None, options: BuildOptions | None
) -> tuple[Path, BuildOptions]:
    """The sample, with its own calibration data, where no model is given."""
    options = options or BuildOptions()
    if model is not None:
        return Path(model), options
    if options.quantize != "none" and options.calibration is None:
        options = replace(options, calibration=sample_calibration())
    return sample_model(), options


def default_folder(board: str) -> Path:
    """Where a board's build lies unless told otherwise."""
    return Path("build") / board


def open_build(board: str, out: Path | str | None = None) -> tuple[Board, Build]:
    """The board and its finished build. Raises UsageError."""
    return load_board(board), read_build(Path(out) if out else default_folder(board), board)


def flash(*, board: str, out: Path | str | None = None, port: str | None = None) -> str:
    """Put the built image onto the board; returns one line saying what was done."""
    target_board, built = open_build(board, out)
    return flash_image(target_board, built.image, port)


def flash_blob(*, board: str, out: Path | str | None = None, port: str | None = None) -> str:
    """Replace only the weights of a board that runs the same kernels, over its serial line.

    The board switches when the whole blob has come and is valid. Raises ModelError where the
    blob is damaged, BoardError where the board refuses it.
    """
    target_board, built = open_build(board, out)
    blob = files.read_bytes(built.folder / "model.blob", "blob")
    read_blob(blob)
    with open_stream(target_board, built.image, port) as stream:
        Client(stream).load_blob(blob)
    return f"'{built.folder / 'model.blob'}' is loaded and runs on '{board}'"


def export(folder: Path | str, *, format: str, out: Path | str) -> list[Path]:
    """Write the build in ``folder`` as C for a firmware project; returns the files.

    ``format`` is cmake, arduino, zephyr, cmsis-pack or single-file. Raises UsageError.
    """
    return export_build(read_build(Path(folder)), Path(out), format)


def run(
    inputs: Inputs,
    *,
    board: str,
    out: Path | str | None = None,
    port: str | None = None,
    progress: Progress = silent,
) -> RunResult:
    """Run a built model on its board (emulated ones start by themselves).

    State tensors start from their initial values and are kept over the series.
    """
    target_board, built = open_build(board, out)
    series = make_series(_arrays(inputs), built.inputs)
    started = time.monotonic()
    with open_session(target_board, built, port) as session:
        session.reset_state()
        results = [session.run(each) for each in progress(series.runs, "running")]
    seconds = time.monotonic() - started
    outputs = collect_outputs(results, built.outputs, series.is_series)
    return RunResult(outputs, len(series), seconds)


@contextmanager
def connect(
    *, board: str, out: Path | str | None = None, port: str | None = None
) -> Iterator[Session]:
    """A connection to a board that runs its build, for single runs with state kept between.

    with connect(board="host") as session:
        session.reset_state()
        outputs = session.run({"input": array})

    Raises BoardError where the board does not answer or runs another build.
    """
    target_board, built = open_build(board, out)
    with open_session(target_board, built, port) as session:
        yield session


def image_inputs(built: Build, picture: Path) -> Arrays:
    """The inputs that a picture file makes, with the model's own preprocessing."""
    tensor = built.inputs[0]
    figures = built.manifest["preprocessing"].get(tensor.name)
    return {tensor.name: read_image(picture, tensor, figures)}


def profile(
    *,
    board: str,
    out: Path | str | None = None,
    port: str | None = None,
    runs: int = 10,
) -> Profile:
    """Time every step on the board over ``runs`` runs on the inputs as they lie."""
    target_board, built = open_build(board, out)
    with open_session(target_board, built, port) as session:
        return collect_profile(session, runs)


def simulate(
    model: Path | str | Graph | None,
    inputs: Inputs,
    *,
    options: BuildOptions | None = None,
    progress: Progress = silent,
) -> RunResult:
    """The exact host simulator: what every board's integers must equal, byte for byte."""
    graph = model if isinstance(model, Graph) else lower(model, options)
    series = make_series(_arrays(inputs), tensor_infos(graph, graph.inputs))
    simulator = Simulator(graph)
    started = time.monotonic()
    results = [simulator.run(each) for each in progress(series.runs, "simulating")]
    seconds = time.monotonic() - started
    outputs = collect_outputs(results, tensor_infos(graph, graph.outputs), series.is_series)
    return RunResult(outputs, len(series), seconds)


def check(
    model: Path | str | None,
    *,
    board: str,
    data: Path | str,
    labels: str | None = None,
    metric: str | None = None,
    options: BuildOptions | None = None,
    on_board: bool = False,
    out: Path | str | None = None,
    port: str | None = None,
    limit: int | None = None,
    workers: int = 1,
    dask: str | None = None,
    progress: Progress = silent,
) -> CheckResult:
    """How accurate the model is as ``board`` computes it, against its float version.

    ``data`` is an ``.npz`` of series (with labels under the key ``labels``, or what that
    parameter says) or a folder of pictures named by class. Without calibration data in
    ``options``, every eighth sample calibrates and the others are judged. ``metric`` is
    ``file.py:function``, called with the outputs by name and the labels. ``on_board`` builds into
    ``out`` and runs every sample there as well. Raises KilnError.
    """
    path, options = _model_and_options(model, options)
    wanted = CheckOptions(Path(data), labels, metric, limit, workers, dask)
    target_board = load_board(board)

    def run_there(graph: Graph, samples: Sequence[Arrays]) -> list[Arrays]:
        compiled = schedule_model(graph, target_board.target, options)
        model_bytes = files.read_bytes(path, "model")
        built = _write_build(compiled, model_bytes, target_board, out, options)
        with open_session(target_board, built, port) as session:
            return [session.run(each) for each in progress(samples, f"running on {board}")]

    there = run_there if on_board else None
    return check_model(path, target_board, options, wanted, on_board=there, progress=progress)


def _arrays(inputs: Inputs) -> Mapping[str, np.ndarray]:
    return read_npz(Path(inputs)) if isinstance(inputs, str | Path) else inputs


def lower(
    model: Path | str | None, options: BuildOptions | None = None, progress: Progress = silent
) -> Graph:
    """The graph that is scheduled: read, canonical, quantized and fused."""
    return lower_model(*_model_and_options(model, options), progress)


def tensor_infos(graph: Graph, names: Sequence[str]) -> list[TensorInfo]:
    """Tensors of the graph as `build.json` would describe them."""
    return [TensorInfo.of(manifest_tensor(graph.tensors[name])) for name in names]


def boards() -> list[dict[str, Any]]:
    """One row per board: name, description, chip, target, whether it is emulated."""
    return [board.summary() for board in map(load_board, board_names())]


def targets() -> list[dict[str, Any]]:
    """One row per target: name, description, fallback chain, number of kernels."""
    load_builtins()
    return [
        {
            "name": name,
            "description": load_target(name).description,
            "chain": [target.name for target in target_chain(name)],
            "kernels": sum(kernel.target == name for kernel in all_kernels()),
        }
        for name in target_names()
    ]


def ops(plugins: Sequence[Path] = ()) -> list[dict[str, Any]]:
    """One row per operator: name, class, and the dtypes of each target's kernels."""
    load_builtins()
    for plugin in plugins:
        load_plugin(plugin)
    rows = []
    for kind in params:
        dtypes: dict[str, set[str]] = {}
        for kernel in all_kernels():
            if kind in kernel.ops:
                dtypes.setdefault(kernel.target, set()).update(kernel.dtypes)
        rows.append(
            {
                "operator": kind,
                "class": op_class.get(kind),
                "targets": {name: sorted(kinds) for name, kinds in sorted(dtypes.items())},
            }
        )
    return rows


def inspect(subject: Path | str | None, options: BuildOptions | None = None) -> dict[str, Any]:
    """What a model file, or the build in a folder, is made of, as plain values.

    A folder gives its ``build.json``; a model also ``operators``: one row per operator of the
    graph that would be scheduled.
    """
    if subject is not None and Path(subject).is_dir():
        return dict(read_build(Path(subject)).manifest)
    graph = lower(subject, options)
    return {
        "model": graph.name,
        "numerics": graph.numerics,
        "inputs": [manifest_tensor(graph.tensors[name]) for name in graph.inputs],
        "outputs": [manifest_tensor(graph.tensors[name]) for name in graph.outputs],
        "macs": sum(count_macs(graph.view(op)) for op in graph.ops),
        "weight_bytes": sum(t.bytes for t in graph.tensors.values() if t.is_constant),
        "operators": [_operator_row(graph.view(op)) for op in graph.ops],
        "labels": list(graph.labels),
    }


def _operator_row(view: OpView) -> dict[str, Any]:
    return {
        "name": view.op.name,
        "operator": view.op.kind,
        "inputs": [
            {"name": t.name, "shape": list(t.shape), "dtype": t.dtype}
            for t in view.inputs
            if t is not None and not t.is_constant
        ],
        "outputs": [
            {"name": t.name, "shape": list(t.shape), "dtype": t.dtype} for t in view.outputs
        ],
        "macs": count_macs(view),
        "weight_bytes": sum(t.bytes for t in view.inputs if t is not None and t.is_constant),
    }
