"""Per-channel multiplications and additions behind a float convolution go into its weights.

Batch normalisation in inference is ``y * scale + offset`` per channel, written as MUL, ADD, SUB
and DIV by constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from compiler.graph import NO_CLAMP, Graph, Op, OpView, Tensor
from compiler.operators.convolution import Conv2dParams, DepthwiseConv2dParams
from compiler.operators.elementwise import ArithmeticParams
from compiler.operators.matrix import FullyConnectedParams
from compiler.passes.rewrite import Uses, fresh_name


@dataclass(frozen=True, eq=False)
class _Affine:
    """``y * scale + offset``, each float32 (channels,)."""

    scale: np.ndarray
    offset: np.ndarray


def fold_batch_norm(graph: Graph) -> Graph:
    """Fold every such operator; a chain of them folds one after the other."""
    uses = Uses(graph)
    tensors = dict(graph.tensors)
    current = graph.replace(tensors=tensors)  # sees the constants that are added on the way
    ops: dict[str, Op] = {}  # by the name of the first output, in order
    for op in graph.ops:
        before = _foldable_producer(current, op, ops, uses)
        affine = _affine(current.view(op), before.outputs[0]) if before is not None else None
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
        if _takes_constants(graph.view(before)):
            return before
    return None


def _channel_axis(op: Op) -> int | None:
    """The axis of the weights that is the output channel."""
    if isinstance(op.params, (Conv2dParams, FullyConnectedParams)):
        return 0
    return 3 if isinstance(op.params, DepthwiseConv2dParams) else None


def _takes_constants(view: OpView) -> bool:
    """Whether the weights and bias are float constants and nothing is clamped yet."""
    if _channel_axis(view.op) is None or view.params.clamp != NO_CLAMP:
        return False
    bias = view.optional(2)
    constants = [view.input(1)] + ([bias] if bias is not None else [])
    return all(tensor.is_constant and tensor.dtype == "float32" for tensor in constants)


def _affine(view: OpView, y: str) -> _Affine | None:
    """What ``view`` does to ``y``, if that is one factor and one offset per channel."""
    if not isinstance(view.params, ArithmeticParams) or view.op.inputs[0] == view.op.inputs[1]:
        return None
    position = view.op.inputs.index(y)
    other, made = view.input(1 - position), view.input(position)
    channels = made.shape[-1]
    if other.data is None or other.is_state or view.output().shape != made.shape:
        return None
    if other.elements not in (1, channels) or (other.elements != 1 and other.shape[-1] != channels):
        return None
    value = np.broadcast_to(other.data.reshape(-1).astype(np.float32), (channels,))
    one, zero = np.ones(channels, np.float32), np.zeros(channels, np.float32)
    kind = view.op.kind
    if kind == "mul":
        return _Affine(value, zero)
    if kind == "add":
        return _Affine(one, value)
    if kind == "sub":
        return _Affine(one, -value) if position == 0 else _Affine(-one, value)
    if kind == "div" and position == 0 and value.all():
        return _Affine(one / value, zero)
    return None


def _absorb(view: OpView, reader: Op, affine: _Affine) -> tuple[Op, tuple[Tensor, Tensor]]:
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
