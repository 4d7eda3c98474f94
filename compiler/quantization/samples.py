"""Where calibration samples come from: an ``.npz`` of series, a folder of pictures, or chance."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Pictures(Sequence[Arrays]):
    """Pictures, each read and prepared for the input ``tensor`` when it is asked for."""

    tensor: TensorInfo
    figures: Mapping[str, object] | None  # as `read_image` takes them
    paths: tuple[Path, ...]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Arrays:  # type: ignore[override]
        return {self.tensor.name: read_image(self.paths[index], self.tensor, self.figures)}

    def __iter__(self) -> Iterator[Arrays]:
        return (self[index] for index in range(len(self)))


def _info(tensor: Tensor) -> TensorInfo:
    scale, zero = (tensor.scale, tensor.zero_point) if tensor.quant else (None, None)
    return TensorInfo(tensor.name, tensor.shape, tensor.dtype, scale, zero)


def input_infos(graph: Graph) -> list[TensorInfo]:
    return [_info(graph.tensors[name]) for name in graph.inputs]


def _as_series(array: np.ndarray, shape: Shape) -> np.ndarray:
    """A batch of N for an input whose batch is 1 is a series of N."""
    is_batch = shape[:1] == (1,) and array.shape[1:] == shape[1:] and array.ndim == len(shape)
    return array[:, None] if is_batch else array


def series_samples(graph: Graph, arrays: Mapping[str, np.ndarray]) -> Sequence[Arrays]:
    """The runs in ``arrays``, whose leading axis may stand for a batch axis of 1."""
    infos = input_infos(graph)
    if len(infos) == len(arrays) == 1:
        arrays = {infos[0].name: next(iter(arrays.values()))}
    shapes = {info.name: info.shape for info in infos}
    series = {name: _as_series(a, shapes.get(name, ())) for name, a in arrays.items()}
    return make_series(series, infos).runs


def picture_paths(folder: Path, deep: bool = False) -> list[Path]:
    """The pictures in ``folder``, by name; ``deep``: and those in its folders."""
    found = folder.rglob("*") if deep else folder.iterdir()
    return sorted(path for path in found if path.suffix.lower() in PICTURES)


def picture_samples(graph: Graph, folder: Path, paths: Sequence[Path]) -> Pictures:
    """Pictures for a model with one image input. Raises UsageError."""
    infos = input_infos(graph)
    if not paths:
        raise UsageError(f"data '{folder}': a folder without pictures ({PICTURES[0]}, ...)")
    if len(infos) != 1:
        raise UsageError(
            f"data '{folder}': pictures suit a model with one input, this one has {len(infos)}; "
            f"give an .npz"
        )
    found = graph.preprocessing.get(infos[0].name)
    figures = None if found is None else {"mean": found.mean, "std": found.std}
    return Pictures(infos[0], figures, tuple(paths))


def load_samples(graph: Graph, source: Path | None) -> Sequence[Arrays]:
    """Inputs of ``graph`` to calibrate by.

    ``source`` is an ``.npz`` whose arrays have a leading axis of samples (which may stand for a
    batch axis of 1), or a folder of pictures for a model with one image input, of which
    PICTURE_LIMIT are used; None makes random numbers, with a warning. Raises UsageError.
    """
    if source is None:
        warnings.warn(
            "quantizing without calibration data: ranges come from random inputs and the accuracy "
            "will be poor; give --calibration inputs.npz or a folder of pictures",
            CalibrationWarning,
            stacklevel=2,
        )
        return series_samples(graph, random_inputs(input_infos(graph), RANDOM_SAMPLES))
    if not source.is_dir():
        return series_samples(graph, read_npz(source, "calibration"))
    paths = picture_paths(source)
    spread = np.linspace(0, len(paths) - 1, min(len(paths), PICTURE_LIMIT)).round().astype(int)
    return picture_samples(graph, source, [paths[index] for index in spread])
