"""float16 weights: half the flash, computed with in float32.

A weight becomes a float16 constant and a ``dequantize`` right before its reader, so that every
float kernel of every target serves; the float32 copy is in the arena only during that step.
"""

from __future__ import annotations

import numpy as np

from compiler.graph import Graph, Op, Tensor
from compiler.operators.quantization import QuantizeParams

#: Constants with fewer elements stay float32: a step would cost more than it saves.
FEWEST = 256

_LARGEST = float(np.finfo(np.float16).max)


def use_half_weights(graph: Graph) -> Graph:
    """Every large float32 constant in float16, but for those that float16 cannot hold."""
    ops: list[Op] = []
    tensors: dict[str, Tensor] = dict(graph.tensors)
    for op in graph.ops:
        for index, name in enumerate(op.inputs):
            if name and name not in op.inputs[:index] and _is_large(graph.tensors[name]):
                tensor = graph.tensors[name]
                half = _fresh(tensors, f"{name}/float16")
                real = _fresh(tensors, f"{op.outputs[0]}/{name}")
                assert tensor.data is not None
                data = tensor.data.astype(np.float16)
                tensors[half] = Tensor(half, tensor.shape, "float16", data=data)
                tensors[real] = Tensor(real, tensor.shape, "float32")
                ops.append(Op("dequantize", real, (half,), (real,), QuantizeParams()))
                op = Op(op.kind, op.name, _swapped(op.inputs, name, real), op.outputs, op.params)
        ops.append(op)
    return graph.with_ops(ops, tensors.values())


def _is_large(tensor: Tensor) -> bool:
    if not tensor.is_constant or tensor.dtype != "float32" or tensor.elements < FEWEST:
        return False
    assert tensor.data is not None
    return bool(np.abs(tensor.data).max() <= _LARGEST)


def _swapped(names: tuple[str, ...], old: str, new: str) -> tuple[str, ...]:
    return tuple(new if name == old else name for name in names)


def _fresh(tensors: dict[str, Tensor], name: str) -> str:
    while name in tensors:
        name += "_"
    return name
