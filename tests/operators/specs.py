"""Quantized tensors with random scales and zero points for the tests of operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.operators.litert import Spec

QUANTIZED = ("int8", "uint8", "int16")


def float32(value: float) -> float:
    return float(np.float32(value))


def random_scale(rng: np.random.Generator, dtype: str) -> float:
    """Between 0.001 and 0.5 per 8-bit step, so that some results saturate and some are all 0."""
    return float32(10 ** rng.uniform(-3, -0.3) / (200 if dtype == "int16" else 1))


def random_spec(rng: np.random.Generator, shape: Sequence[int], dtype: str) -> Spec:
    """Any zero point where there may be one; no quantization of other types."""
    if dtype not in QUANTIZED:
        return Spec(tuple(shape), dtype)
    info = np.iinfo(dtype)
    zero = 0 if dtype == "int16" else int(rng.integers(info.min, info.max + 1))
    return Spec(tuple(shape), dtype, random_scale(rng, dtype), zero)


def fixed_spec(shape: Sequence[int], dtype: str, scale: float, zero_point: int) -> Spec:
    """``zero_point`` is int8's; uint8 has 128 more, int16 none and 2^-8 of the scale."""
    if dtype == "int16":
        return Spec(tuple(shape), dtype, float32(scale / 256), 0)
    return Spec(tuple(shape), dtype, float32(scale), zero_point + (128 if dtype == "uint8" else 0))


def like(spec: Spec, shape: Sequence[int]) -> Spec:
    """A tensor of another shape whose integers mean the same."""
    return Spec(tuple(shape), spec.dtype, spec.scale, spec.zero_point)
