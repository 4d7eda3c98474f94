"""Per-channel multiplications and additions behind a float convolution go into its weights.

Batch normalisation in inference is ``y * scale + offset`` per channel, written as MUL, ADD, SUB
and DIV by constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from compiler.graph import NO_CLAMP, Graph, Op, OpView, Tensor
from compiler.operators.convolution import (
    Conv2dParams,
    DepthwiseConv2dParams,
    TransposeConv2dParams,
)
from compiler.operators.matrix import FullyConnectedParams
from compiler.passes.affine import Affine, affine_of, takes_constants
from compiler.passes.rewrite import Uses, fresh_name


def fold_batch_norm(graph: Graph) -> Graph:
    """Fold every such operator; a chain of them folds one after the other."""
    uses = Uses(graph)
    tensors = dict(graph.tensors)
    current = graph.replace(tensors=tensors)  # sees the constants that are added on the way
    ops: dict[str, Op] = {}  # by the name of the first output, in order
    for op in graph.ops:
        before = _foldable_producer(current, op, ops, uses)
        affine = affine_of(current.view(op), before.outputs[0]) if before is not None else None
        if before is not None and affine is not None:
            del ops[before.outputs[0]]
            op, constants = _absorb(current.view(before), op, affine)
            tensors.update({tensor.name: tensor for tensor in constants})
        ops[op.outputs[0]] = op
    return current.with_ops(ops.values()) if len(ops) < len(graph.ops) else graph


def _foldable_producer(graph: Graph, op: Op, made: Mapping[str, Op], uses: Uses) -> Op | None:
    """The operator with constant weights that makes an input which only ``op`` reads."""
    for name in op.inputs:
        before = made.get(name)
        if before is None or uses.only_reader(name) is not op:
            continue
        view = graph.view(before)
        if _channel_axis(before) is None or before.params.clamp != NO_CLAMP:
            continue
        if takes_constants(view):
            return before
    return None


def _channel_axis(op: Op) -> int | None:
    """The axis of the weights that is the output channel."""
    if isinstance(op.params, (Conv2dParams, FullyConnectedParams, TransposeConv2dParams)):
        return 0
    return 3 if isinstance(op.params, DepthwiseConv2dParams) else None


def _absorb(view: OpView, reader: Op, affine: Affine) -> tuple[Op, tuple[Tensor, Tensor]]:
    """``view`` doing the reader's work too, under the reader's output name; its new constants."""
    graph, op = view.graph, view.op
    weight, bias = view.input(1), view.optional(2)
    axis = _channel_axis(op)
    assert weight.data is not None and axis is not None
    factors = affine.scale.reshape([-1 if i == axis else 1 for i in range(len(weight.shape))])
    old_bias = bias.data if bias is not None and bias.data is not None else np.float32(0)
    new_bias = (old_bias * affine.scale + affine.offset).astype(np.float32)
    new_weight = (weight.data * factors).astype(np.float32)
    weight_name = fresh_name(graph, f"{reader.outputs[0]}/weight")
    bias_name = fresh_name(graph, f"{reader.outputs[0]}/bias")
    merged = replace(
        op,
        inputs=(op.inputs[0], weight_name, bias_name),
        outputs=reader.outputs,
        params=replace(op.params, clamp=reader.params.clamp),
    )
    return merged, (
        Tensor(weight_name, weight.shape, "float32", data=new_weight),
        Tensor(bias_name, new_bias.shape, "float32", data=new_bias),
    )
