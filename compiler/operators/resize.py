"""Resizing of height and width, to the nearest pixel or bilinearly, as TFLite computes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.numerics import divide_half_away
from compiler.registry import classify, params, reference, shape

Array = np.ndarray


@params.of("resize_nearest", "resize_bilinear")
@dataclass(frozen=True)
class ResizeParams:
    """Input (N,H,W,C) to height and width ``output_hw``, with TFLite's two flags.

    Bilinear: int8 and int16 in fixed point with 10 fraction bits per axis, uint8 in float32.
    """

    output_hw: tuple[int, int]
    align_corners: bool = False
    half_pixel_centers: bool = False


classify("resize_nearest", "movement")
classify("resize_bilinear", "complex")

FRACTION_BITS = 10  # of a position between two pixels, where they are integers


@shape.of("resize_nearest", "resize_bilinear")
def _resize_shape(view: OpView) -> list[tuple[Shape, str]]:
    x = view.input(0)
    return [((x.shape[0], *view.params.output_hw, x.shape[3]), x.dtype)]


def resize_scale(input_size: int, output_size: int, align_corners: bool) -> np.float32:
    """Input pixels per output pixel."""
    if align_corners and output_size > 1:
        return np.float32(input_size - 1) / np.float32(output_size - 1)
    return np.float32(input_size) / np.float32(output_size)


def nearest_indices(input_size: int, output_size: int, params: ResizeParams) -> Array:
    """The input row (or column) that each output row takes, (output_size,) int64."""
    scale = resize_scale(input_size, output_size, params.align_corners)
    offset = np.float32(0.5 if params.half_pixel_centers else 0)
    scaled = (np.arange(output_size, dtype=np.float32) + offset) * scale
    index = np.floor(scaled + np.float32(0.5)) if params.align_corners else np.floor(scaled)
    return np.clip(index, 0, input_size - 1).astype(np.int64)


@reference.of("resize_nearest")
def _resize_nearest(view: OpView, x: Array) -> Array:
    p = view.params
    rows = nearest_indices(x.shape[1], p.output_hw[0], p)
    columns = nearest_indices(x.shape[2], p.output_hw[1], p)
    return x[:, rows][:, :, columns]


@dataclass(frozen=True, eq=False)
class Blend:
    """Along one axis, output i is between input pixels ``lower[i]`` and ``upper[i]``.

    ``weight[i]`` belongs to the upper one, ``rest[i]`` to the lower one; all are
    (output_size,). They add up to 1 in float32, or to 1 << FRACTION_BITS in int64.
    """

    lower: Array
    upper: Array
    weight: Array
    rest: Array


def blend_real(input_size: int, output_size: int, params: ResizeParams) -> Blend:
    """In float32, for float and uint8 images."""
    scale = resize_scale(input_size, output_size, params.align_corners)
    position = np.arange(output_size, dtype=np.float32)
    if params.half_pixel_centers:
        position = (position + np.float32(0.5)) * scale - np.float32(0.5)
    else:
        position = position * scale
    lower = np.maximum(np.floor(position), 0).astype(np.int64)
    upper = np.minimum(np.ceil(position), input_size - 1).astype(np.int64)
    weight = position - lower.astype(np.float32)
    return Blend(lower, upper, weight, np.float32(1) - weight)


def blend_fixed(input_size: int, output_size: int, params: ResizeParams) -> Blend:
    """In fixed point, for int8 and int16 images."""
    one = 1 << FRACTION_BITS
    if params.align_corners and output_size > 1:
        scale = (one * (input_size - 1) + (output_size - 1) // 2) // (output_size - 1)
    else:
        scale = (one * input_size + output_size // 2) // output_size
    position = np.arange(output_size, dtype=np.int64) * scale
    if params.half_pixel_centers:
        position = position + scale // 2 - one // 2
    # C's division truncates, which matters left of the first pixel only.
    lower = np.maximum(position >> FRACTION_BITS, 0)
    upper = np.clip(-(-position >> FRACTION_BITS), 0, input_size - 1)
    weight = position - one * lower
    return Blend(lower, upper, weight, one - weight)


def blends(view: OpView) -> tuple[Blend, Blend]:
    """Of the rows and of the columns."""
    x, p = view.input(0), view.params
    blend = blend_fixed if x.dtype in ("int8", "int16") else blend_real
    return blend(x.shape[1], p.output_hw[0], p), blend(x.shape[2], p.output_hw[1], p)


@reference.of("resize_bilinear")
def _resize_bilinear(view: OpView, x: Array) -> Array:
    rows, columns = blends(view)
    is_fixed = x.dtype in (np.int8, np.int16)
    wide = x.astype(np.int64 if is_fixed else np.float32)
    top, bottom = rows.rest[:, None, None], rows.weight[:, None, None]
    left, right = columns.rest[:, None], columns.weight[:, None]
    total = wide[:, rows.lower][:, :, columns.lower] * top * left
    total = total + wide[:, rows.upper][:, :, columns.lower] * bottom * left
    total = total + wide[:, rows.lower][:, :, columns.upper] * top * right
    total = total + wide[:, rows.upper][:, :, columns.upper] * bottom * right
    if is_fixed:
        total = divide_half_away(total, 1 << 2 * FRACTION_BITS)
    elif x.dtype.kind == "u":
        total = np.floor(total + np.float32(0.5))
    return total.astype(view.output().dtype)
