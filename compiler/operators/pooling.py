"""Pooling over windows of NHWC activations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import NO_CLAMP, OpView, Shape
from compiler.numerics import clamp_limits, divide_half_away
from compiler.registry import classify, params, reference, shape
from compiler.windows import window_output_hw, windows

Array = np.ndarray


@params.of("average_pool2d", "max_pool2d")
@dataclass(frozen=True)
class PoolParams:
    """Input x (N,H,W,C). Taps outside are left out, unless ``count_include_pad`` (average)."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    count_include_pad: bool = False
    clamp: tuple[float, float] = NO_CLAMP


classify("average_pool2d", "complex")
classify("max_pool2d", "complex")


@shape.of("average_pool2d", "max_pool2d")
def _pool_shape(view: OpView) -> list[tuple[Shape, str]]:
    x = view.input(0)
    hw = window_output_hw((x.shape[1], x.shape[2]), view.params.kernel, view.params)
    return [((x.shape[0], *hw, x.shape[3]), x.dtype)]


def _clamped(view: OpView, values: Array) -> Array:
    output = view.output()
    low, high = (
        view.params.clamp if output.quant is None else clamp_limits(output, view.params.clamp)
    )
    return np.clip(values, low, high).astype(output.dtype)


@reference.of("max_pool2d")
def _max_pool(view: OpView, x: Array) -> Array:
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    taps = windows(x, view.params.kernel, view.output().shape[1:3], view.params, lowest)
    return _clamped(view, taps.max(axis=(-2, -1)))


@reference.of("average_pool2d")
def _average_pool(view: OpView, x: Array) -> Array:
    """Integers: the sum of the taps inside over their count, ties away from zero."""
    p, output_hw = view.params, view.output().shape[1:3]
    wide = x.astype(np.float32 if x.dtype.kind == "f" else np.int64)
    total = windows(wide, p.kernel, output_hw, p).sum(axis=(-2, -1))
    ones = np.ones((1, *x.shape[1:3], 1), np.int64)
    inside = windows(ones, p.kernel, output_hw, p).sum(axis=(-2, -1))
    count = np.full_like(inside, p.kernel[0] * p.kernel[1]) if p.count_include_pad else inside
    if x.dtype.kind == "f":
        return _clamped(view, total / count.astype(np.float32))
    if p.count_include_pad:
        total = total + view.input(0).zero_point * (count - inside)
    return _clamped(view, divide_half_away(total, count))
