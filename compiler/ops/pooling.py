"""Pooling over windows of NHWC activations."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.graph import NO_CLAMP
from compiler.registry import classify, params


@params.of("average_pool2d", "max_pool2d")
@dataclass(frozen=True)
class PoolParams:
    """Input x (N,H,W,C). Taps outside are left out, unless ``count_include_pad`` (average)."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    count_include_pad: bool = False
    clamp: tuple[float, float] = NO_CLAMP


classify("average_pool2d", "complex")
classify("max_pool2d", "complex")
