"""What is measured of a model's outputs: top-1 and top-5, the user's own function, or noise."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from compiler.arrays import Arrays
from compiler.errors import UsageError

#: ``metric(outputs, labels)``: outputs by name, float, with a leading axis of samples; the labels
#: of the data set or None. Gives one number.
Metric = Callable[[Mapping[str, np.ndarray], np.ndarray | None], float]

#: The most that a signal to noise ratio says, in dB: equal to the last bit of a float.
MOST_DB = 200.0


def sqnr_db(signal: float, noise: float) -> float:
    """Signal to quantization noise, from sums of squares; within -MOST_DB..MOST_DB."""
    if noise <= 0 or signal <= 0:
        return MOST_DB if noise <= 0 else -MOST_DB
    return float(np.clip(10 * np.log10(signal / noise), -MOST_DB, MOST_DB))


def scores(outputs: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """[samples, classes] where the model has one output that looks like classes' scores."""
    if len(outputs) != 1:
        return None
    (value,) = outputs.values()
    classes = value.shape[-1]
    is_one_row = classes > 1 and value[0].size == classes
    return value.reshape(len(value), classes).astype(np.float64) if is_one_row else None


def are_classes(labels: np.ndarray, count: int) -> bool:
    """Whether every label is one of ``count`` classes."""
    is_integer = labels.dtype.kind in "iu" and labels[0].size == 1
    return bool(is_integer and labels.min() >= 0 and labels.max() < count)


def top_share(found: np.ndarray, labels: np.ndarray, count: int) -> float:
    """Share of samples whose label is among the ``count`` best; equal scores by index."""
    best = np.argsort(-found, axis=1, kind="stable")[:, :count]
    return float((best == labels.reshape(-1, 1)).any(axis=1).mean())


def agreement(a: np.ndarray, b: np.ndarray) -> float:
    """Share of samples for which both have the same best class."""
    return float((a.argmax(axis=1) == b.argmax(axis=1)).mean())


def output_sqnr_db(wanted: Arrays, found: Arrays) -> float:
    """Over all outputs and samples."""
    signal = noise = 0.0
    for name, value in wanted.items():
        exact = value.astype(np.float64)
        keep = np.isfinite(exact)
        signal += float(np.square(exact[keep]).sum())
        noise += float(np.square(exact[keep] - found[name].astype(np.float64)[keep]).sum())
    return sqnr_db(signal, noise)


def load_metric(text: str) -> Metric:
    """The function ``file.py:function``. Raises UsageError."""
    file, separator, name = text.rpartition(":")
    path = Path(file)
    if not separator or not path.is_file():
        raise UsageError(f"--metric '{text}': write file.py:function, of a file that exists")
    spec = importlib.util.spec_from_file_location(f"kiln_metric_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"--metric '{text}': '{path}' is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"--metric '{text}': {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"--metric '{text}': '{path}' has no function '{name}'")
    return _checked(text, function)


def _checked(text: str, function: Callable[..., object]) -> Metric:
    def metric(outputs: Mapping[str, np.ndarray], labels: np.ndarray | None) -> float:
        try:
            return float(function(outputs, labels))  # type: ignore[arg-type]
        except Exception as error:
            raise UsageError(f"--metric '{text}': {type(error).__name__}: {error}") from error

    return metric
