"""Resize and Upsample: by the resize operators where they mean the same, else by matrices.

A separable resize multiplies each axis by a constant matrix (output size, input size), which
holds for every mode of coordinates; nearest needs only one index per output and gathers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from compiler.errors import ModelError, UnsupportedError
from compiler.importers.onnx_model.node import Node, reads
from compiler.importers.onnx_model.windows import from_image, to_image
from compiler.operators.matrix import BatchMatmulParams
from compiler.operators.movement import GatherParams
from compiler.operators.resize import ResizeParams


@dataclass(frozen=True)
class _Axis:
    """One axis: ``scale`` is output / input as the file says, maybe not the sizes' ratio.

    ``region`` is the part that tf_crop_and_resize takes, 0 to 1 being all.
    """

    input: int
    output: int
    scale: float
    region: tuple[float, float] = (0.0, 1.0)

    @property
    def exact(self) -> bool:
        return math.isclose(self.scale, self.output / self.input, rel_tol=1e-6)


#: Output position to input position, by ``coordinate_transformation_mode``.
COORDINATES: dict[str, Callable[[np.ndarray, _Axis], np.ndarray]] = {
    "half_pixel": lambda y, a: (y + 0.5) / a.scale - 0.5,
    "pytorch_half_pixel": lambda y, a: (y + 0.5) / a.scale - 0.5 if a.output > 1 else y * 0.0,
    "half_pixel_symmetric": lambda y, a: _symmetric(y, a),
    "asymmetric": lambda y, a: y / a.scale,
    "align_corners": lambda y, a: y * (a.input - 1) / max(a.output - 1, 1),
    "tf_crop_and_resize": lambda y, a: _cropped(y, a),
}
ROUNDING: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _symmetric(y: np.ndarray, axis: _Axis) -> np.ndarray:
    adjusted = axis.output / (axis.scale * axis.input)
    centre = axis.input / 2
    return centre * (1 - adjusted) + (y + 0.5) / axis.scale - 0.5


def _cropped(y: np.ndarray, axis: _Axis) -> np.ndarray:
    begin, end = axis.region
    if axis.output == 1:
        return np.full_like(y, 0.5 * (begin + end) * (axis.input - 1))
    return (begin + y * (end - begin) / (axis.output - 1)) * (axis.input - 1)


@reads("Resize")
def resize(node: Node) -> str:
    """Inputs x, roi, scales, sizes (opset 10: x, scales)."""
    axes = _axes(node, node.opset < 11)
    return _resized(
        node,
        axes,
        node.attribute("mode", "nearest"),
        node.attribute("coordinate_transformation_mode",
                       "asymmetric" if node.opset < 11 else "half_pixel"),
        node.attribute("nearest_mode", "floor" if node.opset < 11 else "round_prefer_floor"),
    )  # fmt: skip


@reads("Upsample")
def upsample(node: Node) -> str:
    scales = node.attribute("scales", []) or node.constant(1, "scales").tolist()
    return _resized(
        node, _scaled(node, scales), node.attribute("mode", "nearest"), "asymmetric", "floor"
    )


def _axes(node: Node, old: bool) -> list[_Axis]:
    which = [int(a) % node.rank() for a in node.attribute("axes", range(node.rank()))]
    scales_at = 1 if old else 2
    if not old and node.has(3) and node.constant(3, "sizes").size:
        axes = _sized(node, which)
    else:
        scales = [1.0] * node.rank()
        given = node.constant(scales_at, "scales").reshape(-1).tolist()
        for axis, scale in zip(which, given, strict=True):
            scales[axis] = scale
        axes = _scaled(node, scales)
    if node.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        roi = node.constant(1, "the region").reshape(-1).tolist()
        for i, axis in enumerate(which):
            axes[axis] = replace(axes[axis], region=(roi[i], roi[i + len(which)]))
    return axes


def _sized(node: Node, which: list[int]) -> list[_Axis]:
    """By sizes; a policy other than "stretch" makes one scale of all that are given."""
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    shape, wanted = node.shape(), node.integers_at(3, "sizes")
    ratios = [size / shape[axis] for axis, size in zip(which, wanted, strict=True)]
    axes = [_Axis(size, size, 1.0) for size in shape]
    for axis, size, ratio in zip(which, wanted, ratios, strict=True):
        if policy != "stretch":
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            size = math.floor(ratio * shape[axis] + 0.5)
        axes[axis] = _Axis(shape[axis], size, ratio)
    return axes


def _scaled(node: Node, scales: list[float]) -> list[_Axis]:
    return [
        _Axis(size, math.floor(size * np.float32(scale)), float(scale))
        for size, scale in zip(node.shape(), scales, strict=True)
    ]


def _resized(node: Node, axes: list[_Axis], mode: str, coordinates: str, rounding: str) -> str:
    build, rank = node.build, node.rank()
    if rank not in (3, 4) or any(a.input != a.output for a in axes[:2]):
        raise UnsupportedError("a resize of other axes than height and width")
    if coordinates == "align_corners" and not all(a.exact for a in axes):
        raise UnsupportedError("align_corners with scales that give no whole sizes; give sizes")
    if coordinates not in COORDINATES:
        raise UnsupportedError(f"coordinate_transformation_mode '{coordinates}'")
    spatial = ([_Axis(1, 1, 1.0)] if rank == 3 else []) + axes[2:]
    x = build.cast(to_image(build, node.input()), _computed(node, mode))
    if mode == "nearest":
        y = _nearest(node, x, spatial, coordinates, rounding)
    elif mode in ("linear", "cubic"):
        y = _interpolated(node, x, spatial, mode, coordinates)
    else:
        raise ModelError(f"mode '{mode}' is not one that ONNX has")
    if coordinates == "tf_crop_and_resize":
        y = _with_outside(node, y, spatial)
    return from_image(build, _rounded(node, y), rank)


def _computed(node: Node, mode: str) -> str:
    """The type to interpolate in; integers of more than 8 bits have none that is exact."""
    dtype = node.dtype()
    if mode == "nearest" or dtype.startswith("float"):
        return dtype
    if dtype not in ("int8", "uint8"):
        raise UnsupportedError(f"interpolation of {dtype}")
    return "float32"


def _rounded(node: Node, y: str) -> str:
    return node.build.cast(y, node.dtype())


def _with_outside(node: Node, y: str, axes: list[_Axis]) -> str:
    """``extrapolation_value`` where a position is outside of the input."""
    value = float(node.attribute("extrapolation_value", 0.0))
    inside = []
    for axis in axes:
        position = _cropped(np.arange(axis.output, dtype=np.float64), axis)
        inside.append((position >= 0) & (position <= axis.input - 1))
    mask = inside[0][:, None, None] & inside[1][None, :, None]
    if mask.all():
        return y
    build = node.build
    outside = build.like(y, value)
    return build.emit("select", build.constant(mask, "inside"), y, outside,
                      dtype=build.tensors[y].dtype)  # fmt: skip


def _nearest(node: Node, x: str, axes: list[_Axis], coordinates: str, rounding: str) -> str:
    sources = []
    for axis in axes:
        positions = COORDINATES[coordinates](np.arange(axis.output, dtype=np.float64), axis)
        sources.append(np.clip(ROUNDING[rounding](positions), 0, axis.input - 1).astype(np.int32))
    output_hw = (axes[0].output, axes[1].output)
    for half in (False, True):
        plain = [_plain_nearest(a, half) for a in axes]
        if all(np.array_equal(p, s) for p, s in zip(plain, sources, strict=True)):
            params = ResizeParams(output_hw, half_pixel_centers=half)
            return node.build.emit("resize_nearest", x, params=params)
    for dimension, source in ((1, sources[0]), (2, sources[1])):
        if not np.array_equal(source, np.arange(node.build.shape(x)[dimension])):
            indices = node.build.constant(source, "indices")
            x = node.build.emit("gather", x, indices, params=GatherParams(dimension))
    return x


def _plain_nearest(axis: _Axis, half: bool) -> np.ndarray:
    """What resize_nearest reads: float32 positions, rounded down."""
    positions = np.arange(axis.output, dtype=np.float32) + np.float32(0.5 if half else 0)
    scaled = positions * np.float32(axis.input / axis.output)
    result: np.ndarray = np.minimum(np.floor(scaled), axis.input - 1).astype(np.int32)
    return result


def _interpolated(node: Node, x: str, axes: list[_Axis], mode: str, coordinates: str) -> str:
    known = {
        "half_pixel": (False, True), "asymmetric": (False, False), "align_corners": (True, False),
    }  # fmt: skip
    if coordinates == "pytorch_half_pixel" and min(a.output for a in axes) > 1:
        coordinates = "half_pixel"
    antialias = bool(node.attribute("antialias", 0))
    if mode == "linear" and not antialias and coordinates in known and all(a.exact for a in axes):
        params = ResizeParams((axes[0].output, axes[1].output), *known[coordinates])
        return node.build.emit("resize_bilinear", x, params=params)
    curve, radius = (_linear, 1) if mode == "linear" else (_cubic(node), 2)
    for dimension, axis in ((1, axes[0]), (2, axes[1])):
        if axis.input != axis.output:
            positions = COORDINATES[coordinates](np.arange(axis.output, dtype=np.float64), axis)
            shrink = min(axis.scale, 1.0) if antialias else 1.0
            weights = _taps(curve, radius, shrink)
            x = _multiply(node, x, dimension, _matrix(positions, axis.input, weights, node))
    return x


Weights = Callable[[np.ndarray], tuple[tuple[int, np.ndarray], ...]]


Curve = Callable[[np.ndarray], np.ndarray]


def _taps(curve: Curve, radius: int, shrink: float) -> Weights:
    """Weights by distance; for antialiasing the curve is as much wider as the image shrinks."""
    first = math.floor(-radius / shrink) + 1

    def weights(fraction: np.ndarray) -> tuple[tuple[int, np.ndarray], ...]:
        offsets = range(first, 2 - first)
        return tuple((i, curve(np.abs(i - fraction) * shrink)) for i in offsets)

    return weights


def _linear(distance: np.ndarray) -> np.ndarray:
    return np.maximum(1 - distance, 0)


def _cubic(node: Node) -> Curve:
    """Keys' kernel with parameter ``cubic_coeff_a``."""
    a = float(node.attribute("cubic_coeff_a", -0.75))

    def curve(t: np.ndarray) -> np.ndarray:
        near = ((a + 2) * t - (a + 3)) * t * t + 1
        far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
        return np.where(t <= 1, near, np.where(t < 2, far, 0.0))

    return curve


def _matrix(positions: np.ndarray, size: int, weights: Weights, node: Node) -> np.ndarray:
    """(outputs, size); taps outside repeat the edge, or are left out (``exclude_outside``)."""
    floor = np.floor(positions)
    matrix = np.zeros((len(positions), size))
    exclude = bool(node.attribute("exclude_outside", 0))
    for offset, weight in weights(positions - floor):
        taps = (floor + offset).astype(int)
        inside = (taps >= 0) & (taps < size)
        used = np.where(inside | (not exclude), weight, 0.0)
        np.add.at(matrix, (np.arange(len(positions)), np.clip(taps, 0, size - 1)), used)
    normal: np.ndarray = (matrix / matrix.sum(axis=1, keepdims=True)).astype(np.float32)
    return normal


def _multiply(node: Node, x: str, dimension: int, matrix: np.ndarray) -> str:
    """``matrix`` times axis 1 or 2 of the NHWC tensor ``x``."""
    build = node.build
    n, h, w, c = build.shape(x)
    flat = (n, h, w * c) if dimension == 1 else (n * h, w, c)
    left = build.constant(matrix[None], "interpolation")
    y = build.emit("batch_matmul", left, build.reshape(x, flat), params=BatchMatmulParams())
    rows = matrix.shape[0]
    return build.reshape(y, (n, rows, w, c) if dimension == 1 else (n, h, rows, c))
