"""Unary functions of quantized tensors by table, as TFLite makes and reads its tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from compiler.graph import Quantization, Tensor
from compiler.numerics import round_half_away, saturate

Array = np.ndarray

#: float64 reals to float64 reals; what the table holds is rounded to float32 on the way.
Function = Callable[[Array], Array]

STEPS = 512  # of a table over all 16-bit values, which is interpolated between them


def apply_function(x: Array, source: Tensor, output: Tensor, function: Function) -> Array:
    """``function`` of the reals that the integers ``x`` mean, as integers of ``output``.

    8 bits: to the nearest integer, from float32 reals. 16 bits: interpolated in a table.
    """
    with np.errstate(all="ignore"):
        if x.dtype.itemsize == 1:
            codes = np.arange(256, dtype=np.uint8)
            return _apply_8(codes.view(x.dtype), source, output, function)[x.view(np.uint8)]
        table = interpolation_table(source, output, function)
        return interpolate(table, x).astype(output.dtype)


def _apply_8(x: Array, source: Tensor, output: Tensor, function: Function) -> Array:
    centred = (x.astype(np.int32) - source.zero_point).astype(np.float32)
    real = function((centred * np.float32(source.scale)).astype(np.float64))
    inverse = np.float32(1) / np.float32(output.scale)
    steps = round_half_away(real.astype(np.float32) * inverse)
    return saturate(steps + output.zero_point, output.dtype)


def interpolation_table(
    source: Tensor, output: Tensor, function: Function, real: type = np.float32
) -> Array:
    """(513,) int64: ``function`` at every 128th 16-bit value, less half the error midway.

    Both tensors are int16; ``real`` is the type that the table is computed in.
    """
    low, high = (real(source.scale) * real(n - source.zero_point) for n in (-32768, 32767))
    least, most = (real(output.scale) * real(n - output.zero_point) for n in (-32768, 32767))
    step = (high - low) / real(STEPS)
    inverse = real(65536) / (most - least)
    index: Array = np.arange(STEPS).astype(real)

    def values(position: Array) -> Array:
        return function(np.asarray(position, np.float64)).astype(real)

    at = values(low + index * step)
    midway = values(low + index * step + step / real(2))
    after = values(low + (index + real(1)) * step)
    sample: Array = round_half_away(at * inverse).astype(real)
    between: Array = round_half_away((after * inverse + sample) / real(2)).astype(real)
    error = between - round_half_away(midway * inverse).astype(real)
    entries = sample - round_half_away(error / real(2)).astype(real)
    last: Array = round_half_away(values(np.array([high])) * inverse).astype(real)
    return np.clip(np.concatenate([entries, last]), -32768, 32767).astype(np.int64)


def interpolate(table: Array, x: Array) -> Array:
    """int64 values of 16-bit ``x`` between the entries of an interpolation table."""
    wide = x.astype(np.int64)
    index, offset = STEPS // 2 + (wide >> 7), wide & 0x7F
    slope = (table[index + 1] - table[index]).astype(np.int16).astype(np.int64)
    return table[index] + ((slope * offset + 64) >> 7)


def int16_tensor(scale: float, zero_point: int = 0) -> Tensor:
    """A stand-in for a 16-bit tensor with these meanings, for tables of fixed functions."""
    return Tensor("", (), "int16", Quantization((scale,), (zero_point,)))
