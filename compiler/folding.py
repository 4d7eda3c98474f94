"""Computes, at compile time, an operator whose inputs are all constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from compiler.graph import OpView, Tensor
from compiler.registry import reference

#: Folding may grow a model by this much per operator, and cast float16 weights to float32.
GROWTH_LIMIT_BYTES = 64 * 1024


def fold(view: OpView) -> tuple[Tensor, ...] | None:
    """The outputs as constants, or None where an input is not constant or too much would grow.

    The outputs' shapes must be known. ``reference`` says what the operator means.
    """
    inputs = [tensor for tensor in view.inputs if tensor is not None]
    if not inputs or not all(tensor.is_constant for tensor in inputs):
        return None
    if view.op.kind not in reference or any(tensor.is_state for tensor in view.outputs):
        return None
    input_bytes = sum(tensor.bytes for tensor in inputs)
    if sum(t.bytes for t in view.outputs) > 4 * input_bytes + GROWTH_LIMIT_BYTES:
        return None
    arrays = [None if tensor is None else tensor.data for tensor in view.inputs]
    results = reference[view.op.kind](view, *arrays)
    results = results if isinstance(results, tuple) else (results,)
    return tuple(
        replace(tensor, data=np.ascontiguousarray(result, dtype=tensor.dtype).reshape(tensor.shape))
        for tensor, result in zip(view.outputs, results, strict=True)
    )
