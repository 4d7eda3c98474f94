"""Between real numbers and integers; the scales are those of the tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.numerics import (
    dequantize_array,
    multiply_quantized,
    quantize_array,
    quantize_multiplier,
    saturate,
)
from compiler.registry import classify, params, reference, shape

Array = np.ndarray


@params.of("quantize", "dequantize", "requantize")
@dataclass(frozen=True)
class QuantizeParams:
    """quantize: float to integer; dequantize: integer to float; requantize: to other scales.

    quantize rounds ties away from zero, or with ``half_even`` to the even integer, as ONNX does.
    """

    half_even: bool = False


for _kind in ("quantize", "dequantize", "requantize"):
    classify(_kind, "elementwise")


@shape.of("quantize", "requantize", "dequantize")
def _same_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(0).shape, view.output().dtype)]


@reference.of("quantize")
def _quantize(view: OpView, x: Array) -> Array:
    output = view.output()
    if view.params.half_even:
        steps = np.rint(np.asarray(x, np.float32) / np.float32(output.scale))
        return saturate(steps.astype(np.float64) + output.zero_point, output.dtype)
    return quantize_array(x, output.scale, output.zero_point, output.dtype)


@reference.of("dequantize")
def _dequantize(view: OpView, x: Array) -> Array:
    if view.input(0).quant is None:  # float16
        return x.astype(view.output().dtype)
    return dequantize_array(x, view.input(0)).astype(view.output().dtype)


@reference.of("requantize")
def _requantize(view: OpView, x: Array) -> Array:
    source, output = view.input(0), view.output()
    mantissa, shift = quantize_multiplier(source.scale / output.scale)
    value = multiply_quantized(x.astype(np.int64) - source.zero_point, mantissa, shift)
    info = np.iinfo(output.dtype)
    return np.clip(value + output.zero_point, info.min, info.max).astype(output.dtype)
