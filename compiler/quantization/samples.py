"""Where calibration samples come from: an ``.npz`` of series, a folder of pictures, or chance."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from compiler.arrays import Arrays, TensorInfo, make_series, random_inputs, read_npz
from compiler.errors import UsageError
from compiler.graph import Graph, Shape, Tensor
from compiler.image import read_image

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".pgm", ".webp")
RANDOM_SAMPLES = 8

#: Pictures taken from a folder, evenly spaced by name: ranges settle after a few dozen, and
#: calibration is most of the compile time. (EfficientNet-Lite0 keeps its top-1 on 194 of 200
#: photographs when calibrated on 20 of them, on 192 when on 50.)
PICTURE_LIMIT = 50


class CalibrationWarning(UserWarning):
    """Calibration data is missing, so that the accuracy will suffer."""


class _Pictures(Sequence[Arrays]):
    """The pictures of a folder, by name, each read and prepared when it is asked for."""

    def __init__(self, graph: Graph, paths: Sequence[Path]) -> None:
        self._graph, self._paths = graph, paths

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> Arrays:  # type: ignore[override]
        (name,) = self._graph.inputs
        found = self._graph.preprocessing.get(name)
        figures = None if found is None else {"mean": found.mean, "std": found.std}
        return {name: read_image(self._paths[index], _info(self._graph.tensors[name]), figures)}

    def __iter__(self) -> Iterator[Arrays]:
        return (self[index] for index in range(len(self)))


def _info(tensor: Tensor) -> TensorInfo:
    return TensorInfo(tensor.name, tensor.shape, tensor.dtype, None, None)


def _as_series(array: np.ndarray, shape: Shape) -> np.ndarray:
    """A batch of N for an input whose batch is 1 is a series of N."""
    is_batch = shape[:1] == (1,) and array.shape[1:] == shape[1:] and array.ndim == len(shape)
    return array[:, None] if is_batch else array


def load_samples(graph: Graph, source: Path | None) -> Sequence[Arrays]:
    """Inputs of ``graph`` to calibrate by.

    ``source`` is an ``.npz`` whose arrays have a leading axis of samples (which may stand for a
    batch axis of 1), or a folder of pictures for a model with one image input, of which
    PICTURE_LIMIT are used; None makes random numbers, with a warning. Raises UsageError.
    """
    infos = [_info(graph.tensors[name]) for name in graph.inputs]
    if source is None:
        warnings.warn(
            "quantizing without calibration data: ranges come from random inputs and the accuracy "
            "will be poor; give --calibration inputs.npz or a folder of pictures",
            CalibrationWarning,
            stacklevel=2,
        )
        return make_series(random_inputs(infos, RANDOM_SAMPLES), infos).runs
    if not source.is_dir():
        arrays = read_npz(source, "calibration")
        shapes = {info.name: info.shape for info in infos}
        series = {name: _as_series(a, shapes.get(name, ())) for name, a in arrays.items()}
        return make_series(series, infos).runs
    paths = sorted(p for p in source.iterdir() if p.suffix.lower() in PICTURES)
    if not paths:
        raise UsageError(f"calibration '{source}': a folder without pictures ({PICTURES[0]}, ...)")
    if len(infos) != 1:
        raise UsageError(
            f"calibration '{source}': pictures suit a model with one input, this one has "
            f"{len(infos)}; give an .npz"
        )
    spread = np.linspace(0, len(paths) - 1, min(len(paths), PICTURE_LIMIT)).round().astype(int)
    return _Pictures(graph, [paths[index] for index in spread])
