"""The float meaning of a quantized graph: what it would compute with real numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from compiler.graph import Graph, Op, Tensor

_CONVERSIONS = ("quantize", "dequantize", "requantize")


def is_quantized(graph: Graph) -> bool:
    return any(tensor.quant is not None for tensor in graph.tensors.values())


def real_graph(graph: Graph) -> Graph:
    """Every quantized tensor becomes float32, and no value is rounded or saturated any more.

    Constants mean what their integers mean. Names stay, so that layers can be compared.
    """
    tensors = {name: _real(tensor) for name, tensor in graph.tensors.items()}
    same: dict[str, str] = {}
    ops: list[Op] = []
    for op in graph.ops:
        inputs = tuple(same.get(name, name) for name in op.inputs)
        is_copy = op.kind in _CONVERSIONS and tensors[op.inputs[0]].dtype == "float32"
        if is_copy and op.outputs[0] not in graph.outputs:
            same[op.outputs[0]] = inputs[0]
        elif is_copy:
            ops.append(_copy(op, inputs, tensors))
        else:
            ops.append(replace(op, inputs=inputs))
    return replace(graph, tensors=tensors).with_ops(ops)


def _copy(op: Op, inputs: tuple[str, ...], tensors: dict[str, Tensor]) -> Op:
    from compiler.operators.movement import ReshapeParams

    return Op("reshape", op.name, inputs, op.outputs, ReshapeParams(tensors[op.outputs[0]].shape))


def _real(tensor: Tensor) -> Tensor:
    quant = tensor.quant
    if quant is None:
        return tensor
    data = None
    if tensor.data is not None:
        shape = [1] * len(tensor.shape)
        if quant.per_channel and quant.axis is not None:
            shape[quant.axis] = -1
        scale = np.array(quant.scale).reshape(shape if quant.per_channel else [1] * len(shape))
        zero = np.array(quant.zero_point).reshape(scale.shape)
        data = ((tensor.data.astype(np.float64) - zero) * scale).astype(np.float32)
    return replace(tensor, dtype="float32", quant=None, data=data)
