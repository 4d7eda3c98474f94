"""Between real numbers and integers; the scales are those of the tensors."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.registry import classify, params


@params.of("quantize", "dequantize", "requantize")
@dataclass(frozen=True)
class QuantizeParams:
    """quantize: float to integer; dequantize: integer to float; requantize: to other scales."""


for _kind in ("quantize", "dequantize", "requantize"):
    classify(_kind, "elementwise")
