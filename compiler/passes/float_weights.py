"""Operators that quantize their activations in each run, as float operators."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from compiler.graph import Graph, Op, Tensor
from compiler.numerics import dequantize_array
from compiler.operators.hybrid import FLOAT_KINDS
from compiler.passes.rewrite import fresh_name
from compiler.registry import params


def use_float_weights(graph: Graph) -> Graph:
    """Weights dequantized, so that post-training quantization sees a float graph."""
    ops: list[Op] = []
    made: dict[str, Tensor] = {}
    for op in graph.ops:
        if op.kind in FLOAT_KINDS:
            weight = graph.tensors[op.inputs[1]]
            if weight.name not in made:
                made[weight.name] = _dequantized(graph, weight)
            kind = FLOAT_KINDS[op.kind]
            values = {f.name: getattr(op.params, f.name) for f in fields(params[kind])}
            inputs = (op.inputs[0], made[weight.name].name, *op.inputs[2:])
            op = replace(op, kind=kind, inputs=inputs, params=params[kind](**values))
        ops.append(op)
    return graph.with_ops(ops, made.values()) if made else graph


def _dequantized(graph: Graph, weight: Tensor) -> Tensor:
    assert weight.data is not None
    data = np.ascontiguousarray(dequantize_array(weight.data, weight))
    return Tensor(fresh_name(graph, f"{weight.name}/float"), weight.shape, "float32", data=data)
