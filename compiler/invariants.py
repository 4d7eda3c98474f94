"""Verifies what must hold between stages: a wrong graph is stopped where it is made."""

from __future__ import annotations

import numpy as np

from compiler.errors import ModelError
from compiler.graph import DTYPE_BYTES, Graph, Op, Tensor
from compiler.registry import params, shape

PROFILES = ("tflite", "fast")


def check_graph(graph: Graph) -> None:
    """Raises ModelError naming the operator or tensor, and the rule that it breaks."""
    if graph.numerics not in PROFILES:
        raise ModelError(f"numerics '{graph.numerics}' is none of {', '.join(PROFILES)}")
    for name, tensor in graph.tensors.items():
        _check_tensor(name, tensor)
    _check_edges(graph)
    known = {n for n, t in graph.tensors.items() if t.data is not None or t.is_state}
    known.update(graph.inputs)
    defined: set[str] = set(graph.inputs)
    for op in graph.ops:
        _check_op(graph, op, known)
        for name in op.inputs:
            if name in defined and graph.tensors[name].is_state:
                raise ModelError(
                    f"operator '{op.kind}' ({op.name}): reads state '{name}' after it is written"
                )
        for name in op.outputs:
            if name in defined:
                raise ModelError(f"tensor '{name}' is made twice, again by '{op.kind}' ({op.name})")
            if graph.tensors[name].is_constant:
                raise ModelError(f"tensor '{name}' is a constant, and '{op.kind}' makes it too")
            defined.add(name)
            known.add(name)
    for name in graph.outputs:
        if name not in known:
            raise ModelError(f"output '{name}' is made by no operator")


def _check_edges(graph: Graph) -> None:
    for name in (*graph.inputs, *graph.outputs):
        if name not in graph.tensors:
            raise ModelError(f"tensor '{name}' of the model's inputs and outputs does not exist")
    for name in graph.inputs:
        if graph.tensors[name].data is not None or graph.tensors[name].is_state:
            raise ModelError(f"input '{name}' has a value already")
        if graph.inputs.count(name) > 1:
            raise ModelError(f"input '{name}' is listed twice")


def _check_tensor(name: str, tensor: Tensor) -> None:
    if name != tensor.name:
        raise ModelError(f"tensor '{tensor.name}' is listed as '{name}'")
    if tensor.dtype not in DTYPE_BYTES:
        raise ModelError(f"tensor '{name}': dtype '{tensor.dtype}' is not one that Kiln has")
    if any(size < 0 for size in tensor.shape):
        raise ModelError(f"tensor '{name}': shape {list(tensor.shape)} has a negative size")
    if tensor.data is not None and (
        tensor.data.shape != tensor.shape or str(tensor.data.dtype) != tensor.dtype
    ):
        raise ModelError(
            f"tensor '{name}': its data is {tensor.data.dtype}{list(tensor.data.shape)}, not "
            f"{tensor.dtype}{list(tensor.shape)}"
        )
    _check_quantization(name, tensor)


def _check_quantization(name: str, tensor: Tensor) -> None:
    quant = tensor.quant
    if quant is None:
        return
    if np.dtype(tensor.dtype).kind not in "iu":
        raise ModelError(f"tensor '{name}': {tensor.dtype} cannot be quantized, integers only")
    info = np.iinfo(tensor.dtype)
    if len(quant.scale) != len(quant.zero_point):
        raise ModelError(f"tensor '{name}': {len(quant.scale)} scales, other count of zero points")
    if any(not scale > 0 or not np.isfinite(scale) for scale in quant.scale):
        raise ModelError(f"tensor '{name}': a scale is not a positive number")
    if any(not info.min <= zero <= info.max for zero in quant.zero_point):
        raise ModelError(f"tensor '{name}': a zero point is outside {tensor.dtype}")
    if quant.per_channel:
        axis = quant.axis
        if axis is None or not 0 <= axis < len(tensor.shape):
            raise ModelError(f"tensor '{name}': per-channel scales without a legal axis")
        if tensor.shape[axis] != len(quant.scale):
            raise ModelError(
                f"tensor '{name}': {len(quant.scale)} scales for {tensor.shape[axis]} channels"
            )


def _check_op(graph: Graph, op: Op, known: set[str]) -> None:
    label = f"operator '{op.kind}' ({op.name})"
    if not isinstance(op.params, params[op.kind]):
        raise ModelError(f"{label}: its parameters are no {params[op.kind].__name__}")
    for name in op.inputs:
        if name and name not in known:
            raise ModelError(f"{label}: reads '{name}' before anything makes it")
    for name in op.outputs:
        if name not in graph.tensors:
            raise ModelError(f"{label}: its output '{name}' is not among the graph's tensors")
    view = graph.view(op)
    try:
        wanted = [(tuple(map(int, size)), dtype) for size, dtype in shape[op.kind](view)]
    except (ValueError, IndexError, ZeroDivisionError) as error:
        shapes = [list(t.shape) for t in view.inputs if t is not None]
        raise ModelError(f"{label}: inputs {shapes} do not go together: {error}") from None
    found = [(t.shape, t.dtype) for t in view.outputs]
    if wanted != found:
        raise ModelError(f"{label}: its output is {found}, but from its inputs {wanted} follows")
