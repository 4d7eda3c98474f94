"""Float32 planes that sum two int8 tensors exactly as TFLite's fixed point does.

Two bytes have 65536 pairs, so a plane ``a * slope_a + b * slope_b + offset`` is tried on all of
them, in the arithmetic of the vector code. Ties go away from zero by ``nudge``.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from compiler.numerics import multiply_quantized

Array = np.ndarray
_NUDGES = (0.0, 2.0**-18, 2.0**-16, 2.0**-14)
_OFFSETS = (0.0, 2.0**-20, -(2.0**-20), 2.0**-18, -(2.0**-18), 2.0**-17, -(2.0**-17))
_STEPS = (0, 1, -1)  # units in the last place of the slopes


@dataclass(frozen=True)
class Sum:
    """Fixed point: multipliers are (mantissa, shift) of a, b and their sum."""

    multipliers: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    left_shift: int
    zero_points: tuple[int, int, int]  # a, b, output
    clamp: tuple[int, int]
    b_sign: int

    def table(self) -> Array:
        """The output of every pair of a (rows) and b (columns) from -128 on."""
        byte = np.arange(-128, 128, dtype=np.int64)
        first, second, last = self.multipliers
        a = multiply_quantized((byte - self.zero_points[0]) << self.left_shift, *first)
        b = multiply_quantized((byte - self.zero_points[1]) << self.left_shift, *second)
        total = multiply_quantized(a[:, None] + self.b_sign * b, *last)
        return np.clip(total + self.zero_points[2], *self.clamp)

    def slopes(self) -> tuple[float, float]:
        (a, b, last) = (np.ldexp(float(m), s - 31) for m, s in self.multipliers)
        whole = 2.0**self.left_shift * last
        return float(a * whole), float(self.b_sign * b * whole)


@dataclass(frozen=True)
class Plane:
    slope_a: float
    slope_b: float
    offset: float
    nudge: float

    def table(self, rule: Sum) -> Array:
        """As the vector code computes it: two fused multiply-adds, and the nudge."""
        byte = np.arange(-128, 128, dtype=np.float64)
        inner = (byte * self.slope_b + self.offset).astype(np.float32).astype(np.float64)
        value = (byte[:, None] * self.slope_a + inner).astype(np.float32)
        value = value + np.copysign(np.float32(self.nudge), value)
        return np.clip(np.rint(value).astype(np.int64) + rule.zero_points[2], *rule.clamp)


@functools.lru_cache(maxsize=256)
def exact_plane(rule: Sum) -> Plane | None:
    """The first plane found that equals ``rule`` everywhere."""
    wanted = rule.table()
    slopes = [np.float32(s) for s in rule.slopes()]
    for step_a, step_b in itertools.product(_STEPS, repeat=2):
        a, b = (
            float(s + np.spacing(s) * np.float32(n))
            for s, n in zip(slopes, (step_a, step_b), strict=True)
        )
        centre = -rule.zero_points[0] * a - rule.zero_points[1] * b
        for offset, nudge in itertools.product(_OFFSETS, _NUDGES):
            plane = Plane(a, b, float(np.float32(centre + offset)), nudge)
            if np.array_equal(plane.table(rule), wanted):
                return plane
    return None
