"""Fourier transforms. A complex number is a pair along one more, last axis: real, imaginary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.registry import classify, params, reference, shape

Array = np.ndarray


@params.of("rfft")
@dataclass(frozen=True)
class RfftParams:
    """Input x (..., N), cut or filled with zeros to ``length`` (a power of two, at least 2);
    output its spectrum (..., length / 2 + 1, 2)."""

    length: int


classify("rfft", "opaque")


@shape.of("rfft")
def _rfft_shape(view: OpView) -> list[tuple[Shape, str]]:
    length = view.params.length
    if length < 2 or length & (length - 1):
        raise ValueError(f"a transform's length is a power of two, not {length}")
    return [((*view.input(0).shape[:-1], length // 2 + 1, 2), "float32")]


@reference.of("rfft")
def _rfft(view: OpView, x: Array) -> Array:
    spectrum = np.fft.rfft(x.astype(np.float64), view.params.length, axis=-1)
    return np.stack([spectrum.real, spectrum.imag], axis=-1).astype(np.float32)
