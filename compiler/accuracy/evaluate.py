"""Runs a data set through two versions of a model, shared out over processes or machines.

The set is cut into chunks whose results are put together in order, so that they are the same
however many workers there are.
"""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from compiler.accuracy.dataset import sample_for, select
from compiler.arrays import Arrays, TensorInfo
from compiler.errors import ToolError
from compiler.executor import Runner
from compiler.report.progress import Progress, silent

#: Samples that a worker takes at once, at most.
CHUNK = 16

#: How long to wait for a Dask scheduler.
_DASK_SECONDS = 20


@dataclass(frozen=True)
class Pair:
    """A layer's output in the float graph, and its counterpart with what its integers mean."""

    layer: str
    operator: str
    float_name: str
    name: str
    scale: float | None
    zero_point: int


@dataclass(frozen=True, eq=False)
class Task:
    """What is evaluated. Samples are as ``given`` says; either graph takes them as its own say."""

    given: tuple[TensorInfo, ...]
    float_inputs: tuple[TensorInfo, ...]
    inputs: tuple[TensorInfo, ...]
    float_runner: Runner
    runner: Runner
    pairs: tuple[Pair, ...] = ()
    is_stream: bool = False  # state goes on from sample to sample


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Per sample: both versions' outputs, and each pair's signal and noise."""

    float_outputs: Arrays
    outputs: Arrays
    signal: np.ndarray  # float64 [samples, pairs], sums of squares
    noise: np.ndarray


def evaluate(
    task: Task,
    samples: Sequence[Arrays],
    *,
    workers: int = 1,
    dask: str | None = None,
    progress: Progress = silent,
    what: str = "checking",
) -> Evaluation:
    """Both versions over all samples. Raises KilnError."""
    if (workers == 1 and dask is None) or task.is_stream:
        return _run_chunk(_Opened(task), progress(samples, what))
    starts = range(0, len(samples), CHUNK)
    chunks = [select(samples, range(s, min(s + CHUNK, len(samples)))) for s in starts]
    share = _by_dask(task, chunks, dask) if dask is not None else _by_pool(task, chunks, workers)
    with share as results:
        ordered = iter(results)
        return _joined([next(ordered) for _ in progress(range(len(chunks)), what)])


class _Opened:
    """A task with its executors at hand; one run at a time."""

    def __init__(self, task: Task) -> None:
        self.task, self.lock = task, Lock()
        self.float_executor, self.executor = task.float_runner.open(), task.runner.open()


def _run_chunk(opened: _Opened, samples: Iterable[Arrays]) -> Evaluation:
    task = opened.task
    float_outputs, outputs, signal, noise = [], [], [], []
    with opened.lock:
        opened.float_executor.reset()
        opened.executor.reset()
        for sample in samples:
            if not task.is_stream:
                opened.float_executor.reset()
                opened.executor.reset()
            wanted: Arrays = {}
            given = sample_for(sample, task.given, task.float_inputs)
            float_outputs.append(opened.float_executor.run(given, _keep(task, wanted)))
            powers: dict[str, tuple[float, float]] = {}
            given = sample_for(sample, task.given, task.inputs)
            outputs.append(opened.executor.run(given, _compare(task, wanted, powers)))
            rows = [powers.get(pair.name, (0.0, 0.0)) for pair in task.pairs]
            signal.append([row[0] for row in rows])
            noise.append([row[1] for row in rows])
    shape = (len(signal), len(task.pairs))
    return Evaluation(
        _stacked(float_outputs),
        _stacked(outputs),
        np.array(signal, np.float64).reshape(shape),
        np.array(noise, np.float64).reshape(shape),
    )


def _keep(task: Task, values: Arrays) -> Callable[[str, np.ndarray], None]:
    names = {pair.float_name for pair in task.pairs}

    def observe(name: str, value: np.ndarray) -> None:
        if name in names:
            values[name] = value

    return observe


def _compare(
    task: Task, wanted: Mapping[str, np.ndarray], powers: dict[str, tuple[float, float]]
) -> Callable[[str, np.ndarray], None]:
    pairs = {pair.name: pair for pair in task.pairs}

    def observe(name: str, value: np.ndarray) -> None:
        pair = pairs.get(name)
        if pair is None or pair.float_name not in wanted:
            return
        exact = wanted[pair.float_name].reshape(-1)
        real = value.reshape(-1).astype(np.float32)
        if pair.scale is not None:
            real -= np.float32(pair.zero_point)
            real *= np.float32(pair.scale)
        real -= exact
        powers[name] = power(exact), power(real)

    return observe


def power(values: np.ndarray) -> float:
    """The sum of squares of finite float32 values."""
    total = float(np.dot(values, values))
    if np.isfinite(total):
        return total
    finite = values[np.isfinite(values)].astype(np.float64)
    return float(finite @ finite)


def _stacked(runs: Sequence[Mapping[str, np.ndarray]]) -> Arrays:
    return {name: np.stack([run[name] for run in runs]) for name in (runs[0] if runs else ())}


def _joined(parts: Sequence[Evaluation]) -> Evaluation:
    def join(arrays: Sequence[Arrays]) -> Arrays:
        return {name: np.concatenate([each[name] for each in arrays]) for name in arrays[0]}

    return Evaluation(
        join([part.float_outputs for part in parts]),
        join([part.outputs for part in parts]),
        np.concatenate([part.signal for part in parts]),
        np.concatenate([part.noise for part in parts]),
    )


@functools.lru_cache(maxsize=1)
def _opened_of(task: bytes) -> _Opened:
    """In a worker: the task's executors, opened once."""
    return _Opened(pickle.loads(task))


def _work(task: bytes, samples: Sequence[Arrays]) -> Evaluation:
    return _run_chunk(_opened_of(task), samples)


_task_of_process = b""


def _start_process(task: bytes) -> None:
    global _task_of_process
    _task_of_process = task


def _work_in_process(samples: Sequence[Arrays]) -> Evaluation:
    return _work(_task_of_process, samples)


@contextmanager
def _by_pool(
    task: Task, chunks: Sequence[Sequence[Arrays]], workers: int
) -> Iterator[Iterable[Evaluation]]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(workers, len(chunks)), context, _start_process, (pickle.dumps(task),)
    )
    try:
        yield pool.map(_work_in_process, chunks)
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _by_dask(
    task: Task, chunks: Sequence[Sequence[Arrays]], address: str | None
) -> Iterator[Iterable[Evaluation]]:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise ToolError("--dask needs dask.distributed; `pip install kiln[dask]`") from None
    try:
        client = distributed.Client(address, timeout=_DASK_SECONDS)
    except (OSError, ValueError) as error:
        raise ToolError(
            f"--dask '{address}': no scheduler answers ({error}); start one with `dask scheduler`"
        ) from None
    with client:
        shared = client.scatter(pickle.dumps(task), broadcast=True, hash=True)
        futures = [client.submit(_work, shared, chunk, pure=False) for chunk in chunks]
        yield (future.result() for future in futures)
