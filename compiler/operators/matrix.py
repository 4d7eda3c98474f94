"""Matrix products: fully connected and batched matrix multiplication."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.accumulate import (
    accumulator_rounding,
    centred,
    check_channels,
    finish_accumulator,
)
from compiler.graph import NO_CLAMP, OpView, Shape
from compiler.numerics import requantize
from compiler.registry import classify, macs, params, reference, rounding, shape

Array = np.ndarray


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
rounding.of("fully_connected")("single")
classify("batch_matmul", "complex")


@shape.of("fully_connected")
def _fully_connected_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, weight = view.input(0), view.input(1)
    outputs, depth = weight.shape
    fits = x.shape[-1] == depth if view.params.keep_dims else not x.elements % depth
    check_channels(view, 0, fits)
    lead = x.shape[:-1] if view.params.keep_dims else (x.elements // depth,)
    return [((*lead, outputs), view.output().dtype)]


@shape.of("batch_matmul")
def _batch_matmul_shape(view: OpView) -> list[tuple[Shape, str]]:
    a, b = list(view.input(0).shape), list(view.input(1).shape)
    if view.params.transpose_a:
        a[-2:] = a[-1], a[-2]
    if view.params.transpose_b:
        b[-2:] = b[-1], b[-2]
    if a[-1] != b[-2]:
        raise ValueError(f"{a[-1]} columns meet {b[-2]} rows")
    batch = np.broadcast_shapes(tuple(a[:-2]), tuple(b[:-2]))
    return [((*batch, a[-2], b[-1]), view.output().dtype)]


@macs.of("fully_connected")
def _fully_connected_macs(view: OpView) -> int:
    return view.output().elements * view.input(1).shape[1]


@macs.of("batch_matmul")
def _batch_matmul_macs(view: OpView) -> int:
    return view.output().elements * view.input(0).shape[-2 if view.params.transpose_a else -1]


@reference.of("fully_connected")
def _fully_connected(view: OpView, x: Array, weight: Array, bias: Array | None = None) -> Array:
    x, weight = centred(x, view.input(0)), centred(weight, view.input(1))
    accumulator = x.reshape(-1, weight.shape[1]) @ weight.T
    return finish_accumulator(view, accumulator, bias).reshape(view.output().shape)


def matmul_scale(view: OpView) -> Array:
    """(1,): a's scale * b's scale, in float32 as TFLite multiplies them, / output scale."""
    product = np.float32(view.input(0).scale) * np.float32(view.input(1).scale)
    return np.array([float(product) / view.output().scale])


@reference.of("batch_matmul")
def _batch_matmul(view: OpView, a: Array, b: Array) -> Array:
    a, b = centred(a, view.input(0)), centred(b, view.input(1))
    if view.params.transpose_a:
        a = a.swapaxes(-1, -2)
    if view.params.transpose_b:
        b = b.swapaxes(-1, -2)
    product, output = a @ b, view.output()
    if output.quant is None:
        return product.astype(output.dtype)
    total, scales = product.astype(np.int64), matmul_scale(view)
    mode = accumulator_rounding(view)
    return requantize(total, scales, output, NO_CLAMP, view.numerics, rounding=mode)
