"""Lays out weights and biases for the shared SIMD kernels."""

from __future__ import annotations

import numpy as np

from compiler.graph import OpView


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


def folded_bias(
    view: OpView, weight: np.ndarray, offset: int, lanes: int, moved: np.ndarray
) -> np.ndarray:
    """Bias less what ``offset`` adds to every activation of (O, ...) weights; int32, padded.

    ``moved`` is added, per channel.

    It may wrap; so does the sum that starts with it, back to the true one.
    """
    sums = weight.reshape(weight.shape[0], -1).astype(np.int64).sum(axis=1)
    folded = bias_of(view, weight.shape[0]) - offset * sums + moved
    return pad_axis(folded.astype(np.uint64).astype(np.uint32).view(np.int32), 0, lanes)


def padded_channels(channels: int, lanes: int) -> np.ndarray:
    """0, 1, ... up to a multiple of ``lanes``; -1 for those that do not exist."""
    indices = np.arange(round_up(channels, lanes))
    return np.where(indices < channels, indices, -1)
