"""The constants that int8 kernels make outputs with, and the proof that nothing overflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from kiln_targets.simd.packing import bias_of
from kiln_targets.simd.straight_line import FixedPoint, straight_line

from compiler.accumulate import accumulator_rounding
from compiler.graph import OpView
from compiler.kernel_fields import (
    accumulator_scales,
    clamp_fields,
    quantize_multiplier,
    rounding_field,
)
from compiler.kernels import Constant, Field
from compiler.numerics import clamp_limits

ROUND_LINE = 16  # SIMD_ROUND_LINE of requantization.h


@dataclass(frozen=True)
class Requantization:
    """``struct simd_requantization`` and the constants beside it, per channel."""

    fields: Mapping[str, Field]
    table: np.ndarray  # (channels), (2, channels) or (4, channels); see requantization.h
    moved: np.ndarray = field(default_factory=lambda: np.int64(0))  # added to the bias

    def constant(self, channels: np.ndarray) -> Constant:
        """The table in another order of channels; -1 is a channel that does not exist."""
        padded = np.pad(self.table, [(0, 0)] * (self.table.ndim - 1) + [(0, 1)])
        return Constant(np.ascontiguousarray(padded[..., channels]), "multiplier")


def requantization(view: OpView, weight: np.ndarray) -> Requantization | None:
    """For an operator with (O, ...) weights; None where the vector code might overflow."""
    fixed = multiplication(view, weight)
    return fixed and (_as_line(view, weight) or fixed)


def multiplication(view: OpView, weight: np.ndarray) -> Requantization | None:
    """As `requantization`, by the profile's own arithmetic."""
    scales = accumulator_scales(view, weight.shape[0])
    most = largest_sums(view, weight)
    zero_point = view.output().zero_point
    common = {
        f"output.{key}": value
        for key, value in {**clamp_fields(view, view.params.clamp), **rounding_field(view)}.items()
    }
    common |= {"output.line_by_sign": 0}
    if view.numerics == "fast":
        fields = {**common, "output.shifts_left": 0, "output.zero_point": zero_point}
        exact = bool((most < 2**31).all() and (most * scales < 2**30).all())
        return Requantization(fields, scales.astype(np.float32)) if exact else None
    single = accumulator_rounding(view) == "single"
    table, largest = _fixed_point_table(scales, most, least_right=int(single))
    with_zero_point = table[2].astype(np.float64) + np.ldexp(float(zero_point), table[1])
    apart = bool((np.abs(with_zero_point) + largest >= 2**31 - 1).any())
    if not apart:
        table[2] = with_zero_point.astype(np.int64)
    fields = {
        **common,
        "output.shifts_left": int(table[3].any()),
        "output.zero_point": zero_point if apart else 0,
    }
    exact = bool((np.ldexp(most, table[3]) < 2**31).all())
    exact = exact and bool((largest + np.abs(table[2]) < 2**31 - 1).all())
    return Requantization(fields, table.astype(np.int32)) if exact else None


def _as_line(view: OpView, weight: np.ndarray) -> Requantization | None:
    """By a line in float32, a quarter of the instructions, where one is proved to be the same."""
    if view.numerics == "fast":
        return None
    scales, most = accumulator_scales(view, weight.shape[0]), largest_sums(view, weight)
    zero_point = view.output().zero_point
    low, high = clamp_limits(view.output(), view.params.clamp)
    pairs = np.array([quantize_multiplier(float(scale)) for scale in scales], np.int64)
    rule = FixedPoint(accumulator_rounding(view), low, high, zero_point)
    line = straight_line(pairs, most, rule) if _is_small(most, scales) else None
    if line is None:
        return None
    fields = {
        "output.clamp_low": low, "output.clamp_high": high, "output.rounding": ROUND_LINE,
        "output.shifts_left": 0, "output.zero_point": zero_point if line.by_sign else 0,
        "output.line_by_sign": int(line.by_sign),
    }  # fmt: skip
    return Requantization(fields, np.stack([line.slope, line.offset]), line.moved)


def _is_small(most: np.ndarray, scales: np.ndarray) -> bool:
    """Whether neither the moved accumulators nor their products leave 32 bits."""
    return bool((most < 2**30).all() and (most * scales < 2**29).all())


def _fixed_point_table(
    scales: np.ndarray, most: np.ndarray, least_right: int
) -> tuple[np.ndarray, np.ndarray]:
    """Multiplier, right shift, half of 2^right and left shift; and what is shifted right at most.

    Channels whose outputs all round to the zero point have a multiplier of 0 instead. With a
    ``least_right`` of 1 half is added before that shift, so that all rounding is there.
    """
    pairs = np.array([quantize_multiplier(float(scale)) for scale in scales], np.int64)
    right = np.maximum(-pairs[:, 1], least_right)
    left = pairs[:, 1] + right
    largest = np.ldexp(most, left) * pairs[:, 0] / 2**31 + 1
    alive = largest >= np.ldexp(0.5, right)
    table = np.stack([pairs[:, 0], right, (1 << right) >> 1, left]) * alive
    return table, largest * alive


def largest_sums(view: OpView, weight: np.ndarray) -> np.ndarray:
    """The largest size of an accumulator of (O, ...) weights, per channel; float64."""
    channels = weight.shape[0]
    sums = np.abs(weight.reshape(channels, -1).astype(np.int64)).sum(axis=1)
    farthest = max(127 - view.input(0).zero_point, view.input(0).zero_point + 128)
    most: np.ndarray = (np.abs(bias_of(view, channels)) + farthest * sums).astype(np.float64)
    return most
