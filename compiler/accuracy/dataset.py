"""A data set with labels: an ``.npz`` of series, or a folder of pictures named by class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from compiler.arrays import Arrays, TensorInfo, read_npz
from compiler.errors import UsageError
from compiler.files import read_bytes
from compiler.graph import Graph
from compiler.numerics import quantize_array
from compiler.quantization.samples import (
    Pictures,
    picture_paths,
    picture_samples,
    series_samples,
)

#: Keys of an ``.npz`` that hold labels unless told otherwise.
LABEL_KEYS = ("labels", "label", "y")

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class Dataset:
    """``samples[i]`` are one run's inputs, ``labels[i]`` its class or whatever a metric takes."""

    samples: Sequence[Arrays]
    labels: np.ndarray | None

    def __len__(self) -> int:
        return len(self.samples)

    def part(self, indices: Sequence[int]) -> Dataset:
        """Some of the samples, with their labels."""
        labels = None if self.labels is None else self.labels[list(indices)]
        return Dataset(select(self.samples, indices), labels)


def select(samples: Sequence[Arrays], indices: Iterable[int]) -> Sequence[Arrays]:
    """Some of the samples; pictures are still read when they are asked for."""
    if isinstance(samples, Pictures):
        return replace(samples, paths=tuple(samples.paths[i] for i in indices))
    return tuple(samples[i] for i in indices)


def load_dataset(graph: Graph, source: Path, labels: str | None = None) -> Dataset:
    """The inputs of ``graph`` in ``source``, and their labels.

    ``labels`` is a key of the ``.npz``, or a file: ``.npy``, or text with one class a line. By
    default an ``.npz`` is looked through for LABEL_KEYS. A picture's class is the number that its
    name (or that of its folder) begins with, or the label of the model that its folder is called.
    Raises UsageError.
    """
    if source.is_dir():
        dataset = _pictures(graph, source, labels)
    else:
        dataset = _series(graph, source, labels)
    if not len(dataset):
        raise UsageError(f"data '{source}': no samples; give at least one")
    if dataset.labels is not None and len(dataset.labels) != len(dataset):
        raise UsageError(
            f"data '{source}': {len(dataset)} samples, {len(dataset.labels)} labels; give one each"
        )
    return dataset


def _series(graph: Graph, source: Path, labels: str | None) -> Dataset:
    arrays = read_npz(source, "data")
    keys = [labels] if labels is not None else [k for k in LABEL_KEYS if k not in graph.inputs]
    key = next((key for key in keys if key in arrays), None)
    found = arrays.pop(key) if key is not None else None
    if found is None and labels is not None:
        found = _label_file(Path(labels), f"the keys of '{source}' are {', '.join(arrays)}")
    return Dataset(series_samples(graph, arrays), found)


def _label_file(path: Path, known: str) -> np.ndarray:
    if not path.is_file():
        raise UsageError(f"--labels '{path}': neither a key ({known}) nor a file")
    if path.suffix == ".npy":
        try:
            return np.asarray(np.load(path, allow_pickle=False))
        except (ValueError, OSError, EOFError):
            raise UsageError(f"--labels '{path}': not an .npy; make it with numpy.save") from None
    lines = read_bytes(path, "labels").decode(errors="replace").split()
    try:
        return np.array([int(line) for line in lines])
    except ValueError:
        raise UsageError(f"--labels '{path}': give one class number a line") from None


def _pictures(graph: Graph, source: Path, labels: str | None) -> Dataset:
    paths = picture_paths(source, deep=True)
    samples = picture_samples(graph, source, paths)
    if labels is not None:
        return Dataset(samples, _label_file(Path(labels), "a folder of pictures has none"))
    classes = [_class_of(path, source, graph.labels) for path in paths]
    if None in classes:
        return Dataset(samples, None)
    return Dataset(samples, np.array(classes))


def _class_of(path: Path, source: Path, labels: Sequence[str]) -> int | None:
    folder = path.parent.name if path.parent != source else ""
    if folder in labels:
        return list(labels).index(folder)
    number = _NUMBER.match(folder or path.name)
    return int(number[0]) if number else None


def sample_for(
    sample: Arrays, given: Sequence[TensorInfo], wanted: Sequence[TensorInfo]
) -> Arrays:
    """``sample`` of inputs ``given`` as a graph with the inputs ``wanted`` takes it.

    The same tensors, by order; one of the two may have integers where the other has floats.
    """
    result: Arrays = {}
    for source, target in zip(given, wanted, strict=True):
        value = sample[source.name]
        if str(value.dtype) != target.dtype and source.scale is not None:
            steps = value.astype(np.float32) - np.float32(source.zero_point or 0)
            value = (steps * np.float32(source.scale)).astype(target.dtype)
        elif str(value.dtype) != target.dtype and target.scale is not None:
            value = quantize_array(value, target.scale, target.zero_point or 0, target.dtype)
        result[target.name] = value
    return result
