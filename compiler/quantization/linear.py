"""Operators that multiply by constant weights, as matrices: what weight methods work on.

An operator that has the attribute ``linear`` computes ``rows @ columns`` in G groups: its weight
is ``rows`` (G, O, K), and ``columns`` (G, K, P) are the P patches of its input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView
from compiler.registry import Attribute
from compiler.windows import window_output_hw, windows

Array = np.ndarray

#: Output positions of one sample that are looked at, at most: neighbours say little new.
POSITIONS = 256


@dataclass(frozen=True)
class LinearForm:
    """``rows(view, weight)`` -> (G, O, K), ``weight(view, rows)`` back; ``patches(view, x)`` ->
    (G, P, K), at most POSITIONS of them, evenly spread. ``channel_axis`` is that of the outputs.
    """

    channel_axis: int
    rows: Callable[[OpView, Array], Array]
    weight: Callable[[OpView, Array], Array]
    patches: Callable[[OpView, Array], Array]


#: ``linear``: the LinearForm of an operator with inputs x, weight, optional bias.
linear: Attribute[LinearForm] = Attribute("linear")


def _spread(count: int) -> Array:
    return np.unique(np.linspace(0, count - 1, min(count, POSITIONS)).astype(np.int64))


def _taps(view: OpView, x: Array) -> Array:
    """(P, C, kh, kw)."""
    kernel = view.input(1).shape[1], view.input(1).shape[2]
    output_hw = window_output_hw((x.shape[1], x.shape[2]), kernel, view.params)
    taps = windows(x, kernel, output_hw, view.params)
    batch, height, width = taps.shape[:3]
    chosen = np.unravel_index(_spread(batch * height * width), (batch, height, width))
    return np.asarray(taps[chosen])


def _conv_rows(view: OpView, weight: Array) -> Array:
    groups = view.params.groups
    return weight.reshape(groups, weight.shape[0] // groups, -1)


def _conv_patches(view: OpView, x: Array) -> Array:
    taps = _taps(view, x)  # channels of a group are neighbours, innermost in a row
    count, channels, height, width = taps.shape
    groups = view.params.groups
    parts = taps.reshape(count, groups, channels // groups, height, width)
    return parts.transpose(1, 0, 3, 4, 2).reshape(groups, count, -1)


def _as_given(view: OpView, rows: Array) -> Array:
    return rows.reshape(view.input(1).shape)


def _depthwise_rows(view: OpView, weight: Array) -> Array:
    channels = view.input(0).shape[3]
    return weight.reshape(-1, channels, weight.shape[3] // channels).transpose(1, 2, 0)


def _depthwise_weight(view: OpView, rows: Array) -> Array:
    return rows.transpose(2, 0, 1).reshape(view.input(1).shape)


def _depthwise_patches(view: OpView, x: Array) -> Array:
    taps = _taps(view, x)
    return taps.transpose(1, 0, 2, 3).reshape(taps.shape[1], taps.shape[0], -1)


def _matrix_patches(view: OpView, x: Array) -> Array:
    rows = x.reshape(-1, view.input(1).shape[1])
    return rows[_spread(len(rows))][None]


linear.of("conv2d")(LinearForm(0, _conv_rows, _as_given, _conv_patches))
linear.of("depthwise_conv2d")(
    LinearForm(3, _depthwise_rows, _depthwise_weight, _depthwise_patches)
)
linear.of("fully_connected")(
    LinearForm(0, lambda view, weight: weight[None], _as_given, _matrix_patches)
)
