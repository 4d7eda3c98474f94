"""Sampling an image at computed positions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.registry import classify, params, reference, shape

Array = np.ndarray

MODES = ("nearest", "linear", "cubic")
PADDINGS = ("zeros", "border", "reflection")
CUBIC = -0.75  # parameter of Keys' kernel


@params.of("grid_sample")
@dataclass(frozen=True)
class GridSampleParams:
    """Inputs x (N,C,...) with 1 to 3 spatial axes, and grid (N,points...,axes), last axis first,
    where -1 and 1 are the edges: of the outer pixels, or with ``align_corners`` their centres.

    ``padding`` says what is outside. Output (N,C,points...).
    """

    mode: str = "linear"
    padding: str = "zeros"
    align_corners: bool = False


classify("grid_sample", "opaque")


@shape.of("grid_sample")
def _grid_sample_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, grid = view.input(0), view.input(1).shape
    if grid[-1] != len(x.shape) - 2 or grid[0] != x.shape[0]:
        raise ValueError("the grid is for another number of axes or images")
    return [((*x.shape[:2], *grid[1:-1]), x.dtype)]


def _limits(size: int, align_corners: bool) -> tuple[float, float]:
    """Where an image ends, in pixels."""
    return (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)


def _reflected(x: Array, low: float, high: float) -> Array:
    span = high - low
    if span == 0:
        return np.full_like(x, low)
    beyond = np.where(x < low, low - x, x - high)
    turns = np.floor(beyond / span)
    rest = beyond - turns * span
    near, far = np.where(x < low, low, high), np.where(x < low, high, low)
    direction = np.where(x < low, 1.0, -1.0)
    folded = np.where(turns % 2 == 0, near + direction * rest, far - direction * rest)
    return np.where((x < low) | (x > high), folded, x)


def _positions(grid: Array, size: int, p: GridSampleParams) -> Array:
    """Pixel positions along one axis, brought inside as the padding says."""
    low, high = _limits(size, p.align_corners)
    x = (grid + 1) / 2 * (high - low) + low
    if p.mode == "nearest":
        x = np.rint(x)
    if p.padding == "border":
        return np.where((x < low) | (x > high), np.clip(x, 0, size - 1), x)
    return _reflected(x, low, high) if p.padding == "reflection" else x


def _cubic_weights(t: Array) -> list[Array]:
    def near(d: Array) -> Array:
        return ((CUBIC + 2) * d - (CUBIC + 3)) * d * d + 1

    def far(d: Array) -> Array:
        return ((CUBIC * d - 5 * CUBIC) * d + 8 * CUBIC) * d - 4 * CUBIC

    return [far(1 + t), near(t), near(1 - t), far(2 - t)]


def _taps(position: Array, p: GridSampleParams) -> list[tuple[Array, Array]]:
    """Pixels along one axis, and their weights."""
    floor = np.floor(position)
    rest = position - floor
    if p.mode == "nearest":
        return [(position, np.ones_like(position))]
    if p.mode == "linear":
        return [(floor, 1 - rest), (floor + 1, rest)]
    return [(floor + i - 1, weight) for i, weight in enumerate(_cubic_weights(rest))]


@reference.of("grid_sample")
def _grid_sample(view: OpView, x: Array, grid: Array) -> Array:
    p, sizes = view.params, x.shape[2:]
    wide = grid.reshape(grid.shape[0], -1, len(sizes)).astype(np.float64)
    axes = [
        _taps(_positions(wide[..., len(sizes) - 1 - i], size, p), p) for i, size in enumerate(sizes)
    ]
    total = np.zeros((*x.shape[:2], wide.shape[1]))
    for chosen in itertools.product(*axes):
        weight = np.ones(wide.shape[:2])
        offset = np.zeros(wide.shape[:2], np.int64)
        for (pixel, share), size in zip(chosen, sizes, strict=True):
            inside = (pixel >= 0) & (pixel <= size - 1)
            if p.padding == "zeros":
                weight = weight * inside
            elif p.padding == "reflection":
                pixel = np.trunc(_reflected(pixel, *_limits(size, p.align_corners)))
            weight = weight * share
            offset = offset * size + np.clip(pixel, 0, size - 1).astype(np.int64)
        flat = x.reshape(*x.shape[:2], -1)
        total += np.take_along_axis(flat, offset[:, None], 2) * weight[:, None]
    return total.reshape(view.output().shape).astype(view.output().dtype)
