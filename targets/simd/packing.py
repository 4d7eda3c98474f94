"""Lays out weights and per-channel constants for the shared SIMD kernels."""

from __future__ import annotations

import numpy as np

from compiler.graph import OpView
from compiler.kernel_fields import accumulator_scales, quantize_multiplier


def round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def pad_axis(array: np.ndarray, axis: int, multiple: int) -> np.ndarray:
    """``array`` with zeros behind, so that ``axis`` is a multiple."""
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, round_up(array.shape[axis], multiple) - array.shape[axis])
    return np.pad(array, widths)


def pack_runs(
    weight: np.ndarray, lanes: int, columns: int, step: int, parts: int = 1
) -> np.ndarray:
    """(O, runs, inputs) to ``[block][run][step of a run][column][part][lane][input of a part]``.

    The last block of channels has fewer columns. A step's inputs are cut into ``parts``.
    """
    padded = pad_axis(pad_axis(weight, 2, step), 0, lanes)
    channels = padded.shape[0]
    steps = padded.reshape(channels, -1, step)
    blocks = []
    for begin in range(0, channels, lanes * columns):
        block = steps[begin : begin + lanes * columns]
        lanes_apart = block.reshape(-1, lanes, steps.shape[1], parts, step // parts)
        blocks.append(lanes_apart.transpose(2, 0, 3, 1, 4).ravel())
    return np.concatenate(blocks)


def bias_of(view: OpView, channels: int) -> np.ndarray:
    """The bias as int64 or float64; zeros where there is none."""
    bias = view.optional(2)
    kind = np.float64 if view.output().dtype == "float32" else np.int64
    return np.zeros(channels, kind) if bias is None or bias.data is None else bias.data.astype(kind)


def folded_bias(view: OpView, weight: np.ndarray, offset: int, lanes: int) -> np.ndarray:
    """Bias less what ``offset`` adds to every activation of (O, ...) weights; int32, padded.

    It may wrap; so does the sum that starts with it, back to the true one.
    """
    sums = weight.reshape(weight.shape[0], -1).astype(np.int64).sum(axis=1)
    folded = bias_of(view, weight.shape[0]) - offset * sums
    return pad_axis(folded.astype(np.uint64).astype(np.uint32).view(np.int32), 0, lanes)


def requantization(view: OpView, channels: int, lanes: int) -> np.ndarray:
    """``fast``: float32 (channels); ``tflite``: int32 (3, channels) of multiplier, left, right."""
    scales = accumulator_scales(view, channels)
    if view.numerics == "fast":
        return pad_axis(scales.astype(np.float32), 0, lanes)
    pairs = np.array([quantize_multiplier(float(scale)) for scale in scales], np.int32)
    multiplier, shift = pairs[:, 0], pairs[:, 1]
    table = np.stack([multiplier, np.maximum(shift, 0), np.maximum(-shift, 0)])
    return pad_axis(table.astype(np.int32), 1, lanes)


def requantizes_exactly(view: OpView, weight: np.ndarray) -> bool:
    """Whether no accumulator of (O, ...) weights can leave the range the vector code takes.

    That is ``|acc| < 2^(30 - left shift)`` for ``tflite``, and ``|acc * scale| < 2^30``.
    """
    channels = weight.shape[0]
    sums = np.abs(weight.reshape(channels, -1).astype(np.int64)).sum(axis=1)
    farthest = max(127 - view.input(0).zero_point, view.input(0).zero_point + 128)
    most = np.abs(bias_of(view, channels)) + farthest * sums
    scales = accumulator_scales(view, channels)
    if view.numerics == "fast":
        return bool((most < 2**31).all() and (most * scales < 2**30).all())
    left = np.maximum([quantize_multiplier(float(scale))[1] for scale in scales], 0)
    return bool((left < 30).all() and (most < 2 ** (30 - np.minimum(left, 30))).all())
