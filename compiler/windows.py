"""Sliding windows over NHWC arrays: what convolutions and poolings have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Array = np.ndarray
Pair = tuple[int, int]


def window_output_hw(input_hw: Pair, kernel: Pair, params: Any) -> Pair:
    """Output height and width, from ``stride``, ``dilation`` and ``padding`` of ``params``."""
    pads = (sum(params.padding[:2]), sum(params.padding[2:]))
    height, width = (
        (size + pad - (k - 1) * d - 1) // s + 1
        for size, pad, k, d, s in zip(
            input_hw, pads, kernel, params.dilation, params.stride, strict=True
        )
    )
    return height, width


def pad_hw(x: Array, padding: tuple[int, int, int, int], value: float = 0) -> Array:
    """``x`` (N,H,W,C) with rows and columns of ``value`` around it."""
    if not any(padding):
        return x
    top, bottom, left, right = padding
    return np.pad(
        x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=np.array(value, x.dtype)
    )


def windows(
    x: Array, kernel: Pair, output_hw: tuple[int, ...], params: Any, value: float = 0
) -> Array:
    """A view (N,OH,OW,C,kh,kw) of the padded ``x``: the taps of each output position."""
    (stride_y, stride_x), (dilation_y, dilation_x) = params.stride, params.dilation
    reach = ((kernel[0] - 1) * dilation_y + 1, (kernel[1] - 1) * dilation_x + 1)
    padded = pad_hw(x, params.padding, value)
    view = sliding_window_view(padded, reach, (1, 2))[..., ::dilation_y, ::dilation_x]
    return view[:, ::stride_y, ::stride_x][:, : output_hw[0], : output_hw[1]]
