"""Lays out weights and the constants of channels as the Cortex-M kernels read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.accumulate import accumulator_rounding, accumulator_scales
from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields
from compiler.kernels import Field
from compiler.numerics import quantize_multiplier, requantize

Array = np.ndarray

#: Ways to requantize, as ``enum cortex_m_rounding`` has them.
MODES = ("double", "single", "fast", "any")
MOST_SHIFT = 22  # zero points shifted to the left by it, and a high product, add up in 32 bits


def round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


@dataclass(frozen=True, eq=False)
class Channels:
    """Weights and what requantization needs; all exact integers in int64 but for the scales.

    ``weight`` is (O, K), the rest (O). ``bias`` has the input's zero point folded in; ``most`` is
    the largest size that a sum with the bias can have.
    """

    weight: Array
    bias: Array
    most: Array
    scales: Array
    multiplier: Array
    shift: Array  # to the right


def channels_of(view: OpView, weight: Array) -> Channels:
    """Of (O, K) weights.

    A channel whose output is the same for every input loses its weights: files have such ones,
    with biases and multipliers that kernels have no room for.
    """
    wide, scales = weight.astype(np.int64), accumulator_scales(view, len(weight))
    given = view.optional(2)
    bias = np.zeros(len(wide), np.int64)
    if given is not None and given.data is not None:
        bias = given.data.astype(np.int64)
    bias = bias - view.input(0).zero_point * wide.sum(axis=1)
    least = bias + np.where(wide > 0, -128 * wide, 127 * wide).sum(axis=1)
    most = bias + np.where(wide > 0, 127 * wide, -128 * wide).sum(axis=1)
    pairs = np.array([quantize_multiplier(float(scale)) for scale in scales], np.int64)
    multiplier, shift = pairs[:, 0], -pairs[:, 1]

    mode = accumulator_rounding(view)
    ends = [
        requantize(end, scales, view.output(), view.params.clamp, view.numerics, rounding=mode)
        for end in (least, most)
    ]
    fixed = (ends[0] == ends[1]) & (np.abs(least) < 2**31) & (np.abs(most) < 2**31)
    value = ends[0].astype(np.int64) - view.output().zero_point
    # value = round(8 * value * 2^30 / 2^32 / 2), or 1 * value
    bias = np.where(fixed, value if view.numerics == "fast" else 4 * value, bias)
    size = np.maximum(np.maximum(np.abs(least), np.abs(most)), np.abs(bias))
    return Channels(
        np.where(fixed[:, None], 0, wide), bias, np.where(fixed, np.abs(bias), size),
        np.where(fixed, 1.0, scales), np.where(fixed, 2**30, multiplier),
        np.where(fixed, 1, shift),
    )  # fmt: skip


def is_safe(channels: Channels) -> bool:
    """Whether doubled sums fit 32 bits and results, before they are clamped, 30."""
    most = channels.most
    return bool((most < 2**30).all() and (most * channels.scales < 2**30).all())


def mode_of(view: OpView, channels: Channels, rounding: str) -> str:
    """The cheapest of MODES; ``rounding`` is that of numerics ``tflite``."""
    if view.numerics == "fast":
        return "fast"
    shift = channels.shift
    return rounding if bool(((shift >= 1) & (shift <= MOST_SHIFT)).all()) else "any"


def saturates(view: OpView) -> bool:
    fields: dict[str, Field] = clamp_fields(view, view.params.clamp)
    return (fields["clamp_low"], fields["clamp_high"]) == (-128, 127)


def pack_channels(channels: Channels, mode: str, numerics: str) -> Array:
    """int32 words, channel by channel; see ``enum cortex_m_rounding``."""
    doubled = (2 * channels.bias).astype(np.int32)
    if numerics == "fast":
        halved = (channels.scales.astype(np.float32) / np.float32(2)).view(np.int32)
        return np.stack([doubled, halved], axis=1)
    shift = -channels.shift if mode == "any" else channels.shift - 1
    return np.stack([doubled, channels.multiplier, shift], axis=1).astype(np.int32)


def pairs_of(weight: Array) -> tuple[Array, Array]:
    """First and second channels of pairs, (O/2, K) each, padded to 4 channels and 8 inputs."""
    outputs, depth = weight.shape
    padded = np.zeros((round_up(outputs, 4), round_up(depth, 8)), np.int64)
    padded[:outputs, :depth] = weight
    return padded[0::2], padded[1::2]


def pack_words(weight: Array) -> Array:
    """(O, K) to ``[pair of channels][quad of inputs][input 0 2 1 3]``."""
    first, second = pairs_of(weight)
    words = (256 * second + first).astype(np.int16)
    return words.reshape(-1, 4)[:, [0, 2, 1, 3]].ravel()


def has_words(weight: Array) -> bool:
    """Whether all pairs fit 16 bits: -128 has no room for a negative one below it."""
    first, second = pairs_of(weight)
    return bool((256 * second + first >= -(2**15)).all())


def segment_of(weight: Array) -> int:
    """How many inputs, a multiple of 8, sums of words have room for wherever they begin."""
    first, second = pairs_of(weight)
    depth = first.shape[1]
    size = 128 * (256 * np.abs(second) + np.abs(first)).reshape(len(first), -1, 8).sum(-1)
    segment = depth
    while segment > 8 and _largest(size, segment // 8) >= 2**31:
        segment = round_up(segment // 2, 8)
    return segment


def _largest(size: Array, steps: int) -> int:
    """The largest sum over ``steps`` steps from any multiple of them on."""
    padded = np.pad(size, ((0, 0), (0, -size.shape[1] % steps)))
    return int(padded.reshape(len(size), -1, steps).sum(-1).max(initial=0))
