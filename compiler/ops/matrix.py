"""Matrix products: fully connected and batched matrix multiplication."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.graph import NO_CLAMP
from compiler.registry import classify, params


@params.of("fully_connected")
@dataclass(frozen=True)
class FullyConnectedParams:
    """Inputs x (..., K), weight (O, K), optional bias (O).

    Output (..., O) with ``keep_dims``, else (elements / K, O).
    """

    keep_dims: bool = True
    clamp: tuple[float, float] = NO_CLAMP


@params.of("batch_matmul")
@dataclass(frozen=True)
class BatchMatmulParams:
    """Inputs a (..., M, K) and b (..., K, N), batch dimensions broadcast; either transposed."""

    transpose_a: bool = False
    transpose_b: bool = False


classify("fully_connected", "complex")
classify("batch_matmul", "complex")
