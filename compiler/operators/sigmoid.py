"""The logistic function and tanh of 16-bit integers: one table of the logistic curve serves both.

tanh(x) is 2 * logistic(2 x) - 1, and both are symmetric, so the table has absolute values only.
"""

from __future__ import annotations

import math

import numpy as np

from compiler.graph import OpView

Array = np.ndarray

STEPS_PER_UNIT = 24  # entries of the table per 1.0 of the logistic's argument
INTEGER_BITS = 3  # of an input whose scale is a power of two


def logistic_table() -> Array:
    """(256,) int64: logistic(i / 24) with 16 fraction bits, plus what makes up for the chords.

    A chord lies below the curve by up to 1/8 of its second difference; entries are half of that
    higher. The last entry is the limit.
    """
    curve = 65536 / (1 + np.exp(-np.arange(-1, 257) / STEPS_PER_UNIT))
    bend = curve[:-2] - 2 * curve[1:-1] + curve[2:]
    table = np.rint(curve[1:-1] - bend / 16).astype(np.int64)
    table[-1] = 65535
    return table


def input_multiplier(scale: float, power_of_two_shifts: tuple[int, ...]) -> tuple[int, int]:
    """(multiplier, right shift) from the input's integers to 1 / (3 * 4096).

    A scale that is nearly a power of two counts as one where its shift is among those given.
    """
    exponent = math.log2(scale)
    shift = 15 - INTEGER_BITS + round(exponent)
    if abs(exponent - round(exponent)) < 1e-3 and shift in power_of_two_shifts:
        return 3 << shift, 0
    multiplier, right = scale * 4096.0 * 3.0, 0
    while multiplier <= 32767 / 2 and right <= 30:
        multiplier, right = multiplier * 2, right + 1
    return int(multiplier), right


def _position(x: Array, multiplier: int, right: int) -> Array:
    nudge = 1 << (right - 1) if right > 0 else 0
    return (x.astype(np.int64) * multiplier + nudge) >> right


def _interpolated(magnitude: Array, fraction_bits: int, most: int) -> Array:
    """The curve at ``magnitude``, with 16 + ``fraction_bits`` fraction bits."""
    table = logistic_table()
    index = magnitude >> fraction_bits
    inside = np.minimum(index, 254)
    rest = magnitude & ((1 << fraction_bits) - 1)
    slope = table[inside + 1] - table[inside]
    return np.where(index >= 255, most, (table[inside] << fraction_bits) + rest * slope)


def logistic_16(view: OpView, x: Array) -> Array:
    """int16 of scale 1 / 32768."""
    position = _position(x, *input_multiplier(view.input(0).scale, (0,)))
    curve = _interpolated(np.abs(position), 9, 0x7FFF << 10)
    value = np.where(position >= 0, curve + (1 << 9), (1 << 25) - curve + (1 << 9) - 1)
    return (value >> 10).astype(np.int16)


def tanh_16(view: OpView, x: Array) -> Array:
    """int16 of scale 1 / 32768."""
    position = _position(x, *input_multiplier(view.input(0).scale, (0, 1)))
    curve = _interpolated(np.abs(position), 8, 0xFFFF << 8)
    half, nudge = 1 << 23, 1 << 7
    value = np.where(position >= 0, curve - half + nudge, half - curve + nudge - 1)
    return (value >> 8).astype(np.int16)
