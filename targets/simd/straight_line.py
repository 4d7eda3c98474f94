"""Float32 lines that round like TFLite's fixed point, found and proved channel by channel.

Fixed point and ``rint(fma(accumulator, slope, offset))`` both rise with the accumulator, so they
are the same function if they agree on either side of each of the 255 steps of the output. That is
tried, in the arithmetic of the vector code, for slopes next to the true one with the offset in the
middle of those that satisfy all steps. A whole number of accumulators goes into the bias first, so
that the line runs through the output's zero, where float32 is finest.

Two roundings of ties away from zero are no line; as the first is by up to one half of the second's
last bit, the offset then changes its sign with the accumulator's.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from compiler.numerics import MULTIPLY

Array = np.ndarray
#: Units in the last place by which slopes are moved.
_STEPS = (0, *(sign * size for size in range(1, 9) for sign in (1, -1)))
_MOST_MOVED = 2**29


@dataclass(frozen=True, eq=False)
class Line:
    """``rint((accumulator + moved) * slope + offset)``.

    With ``by_sign`` nothing is moved, and the offset is subtracted where the sum is negative.
    """

    moved: Array  # int64 (channels)
    slope: Array  # float32 (channels)
    offset: Array  # float32 (channels)
    by_sign: bool


@dataclass(frozen=True)
class FixedPoint:
    """What a line has to equal: ``clip(multiply(accumulator) + zero_point, low, high)``."""

    rounding: str  # "double" or "single"
    low: int
    high: int
    zero_point: int

    def __call__(self, accumulator: Array, mantissa: Array, shift: Array) -> Array:
        """(channels, n) accumulators to outputs."""
        value = MULTIPLY[self.rounding](accumulator, mantissa[:, None], shift[:, None])
        return np.clip(value + self.zero_point, self.low, self.high)


def straight_line(pairs: Array, most: Array, rule: FixedPoint) -> Line | None:
    """For (channels, 2) mantissas and shifts and accumulators up to ``most``; None if none is."""
    key = (pairs.astype(np.int64).tobytes(), most.astype(np.float64).tobytes(), rule)
    return _straight_line(*key)


@functools.lru_cache(maxsize=512)
def _straight_line(pairs_bytes: bytes, most_bytes: bytes, rule: FixedPoint) -> Line | None:
    mantissa, shift = np.frombuffer(pairs_bytes, np.int64).reshape(-1, 2).T
    most = np.frombuffer(most_bytes, np.float64).astype(np.int64)
    points = _points(mantissa, shift, most, rule)
    if points is None:
        return None
    wanted = rule(points, mantissa, shift)
    by_sign = rule.rounding == "double" and rule.low < rule.zero_point
    true_slope = np.ldexp(mantissa.astype(np.float64), shift - 31).astype(np.float32)
    slope, offset = true_slope.copy(), np.zeros_like(true_slope)
    moved = np.zeros(len(slope), np.int64)
    if not by_sign:
        real = np.rint(rule.zero_point / np.maximum(true_slope.astype(np.float64), 2.0**-40))
        moved = np.where(np.abs(real) < _MOST_MOVED, real, 0).astype(np.int64)
    points = points + moved[:, None]
    missing = np.ones(len(slope), bool)
    for step in _STEPS:
        at = np.flatnonzero(missing)
        tried = true_slope[at] + np.spacing(true_slope[at]) * np.float32(step)
        middle = _middle(tried, points[at], wanted[at], rule, by_sign)
        good = (_line(tried, middle, points[at], rule, by_sign) == wanted[at]).all(axis=1)
        slope[at[good]], offset[at[good]] = tried[good], middle[good]
        missing[at[good]] = False
        if not missing.any():
            return Line(moved, slope, offset, by_sign)
    return None


def _points(mantissa: Array, shift: Array, most: Array, rule: FixedPoint) -> Array | None:
    """The accumulators before and after each step, within reach; (channels, 2 * steps)."""
    levels = np.arange(rule.low, max(rule.high, rule.low + 1))
    scale = np.maximum(np.ldexp(mantissa.astype(np.float64), shift - 31), 2.0**-33)[:, None]
    guess = np.floor((levels - rule.zero_point + 0.5) / scale).astype(np.int64)
    limit = most[:, None]
    first = np.clip(guess - 3, -limit - 1, limit)
    for _ in range(7):
        below = rule(np.clip(first + 1, -limit, limit), mantissa, shift) <= levels
        first = np.where(below & (first < limit), first + 1, first)
    before, after = np.clip(first, -limit, limit), np.clip(first + 1, -limit, limit)
    bounds = (before > -limit) & (rule(before, mantissa, shift) > levels)
    bounds |= (after < limit) & (rule(after, mantissa, shift) <= levels)
    if bounds.any():
        return None
    return np.concatenate([before, after, -limit, limit], axis=1)


def _middle(
    slope: Array, points: Array, wanted: Array, rule: FixedPoint, by_sign: bool
) -> Array:
    """The middle of the offsets that make every point round to what is wanted."""
    target = wanted - (rule.zero_point if by_sign else 0)
    on_line = slope.astype(np.float64)[:, None] * points
    least = np.where(wanted > rule.low, target - 0.5 - on_line, -np.inf)
    largest = np.where(wanted < rule.high, target + 0.5 - on_line, np.inf)
    if by_sign:
        negative = points < 0
        least, largest = (
            np.where(negative, -largest, least), np.where(negative, -least, largest),
        )  # fmt: skip
    low, high = least.max(axis=1), largest.min(axis=1)
    low = np.where(np.isinf(low), np.where(np.isinf(high), 0.0, high - 1), low)
    high = np.where(np.isinf(high), low + 1, high)
    middle: Array = ((low + high) / 2).astype(np.float32)
    return middle


def _line(slope: Array, offset: Array, points: Array, rule: FixedPoint, by_sign: bool) -> Array:
    """As the vector code computes it. Products of float32 are exact in float64; the sum is too,
    or is rounded twice, which is refused later than it matters: both roundings are monotone."""
    real = points.astype(np.float32).astype(np.float64)
    added = np.broadcast_to(offset.astype(np.float64)[:, None], real.shape)
    if by_sign:
        added = np.where(points < 0, -added, added)
    value = np.rint((real * slope.astype(np.float64)[:, None] + added).astype(np.float32))
    return np.clip(value + (rule.zero_point if by_sign else 0), rule.low, rule.high)
