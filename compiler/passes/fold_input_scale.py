"""Per-channel multiplications and additions before a float convolution go into its weights.

conv(x * scale + offset) = conv'(x) + offset * sum(weights). Padding puts zeros where the offset
would have been, so an offset only goes where there is no padding.
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

Array = np.ndarray


def fold_input_scale(graph: Graph) -> Graph:
    """Fold wherever nothing else reads the result; a run of such operators folds as a whole."""
    uses = Uses(graph)
    tensors = dict(graph.tensors)
    current = graph.replace(tensors=tensors)  # sees the constants that are added on the way
    ops: dict[str, Op] = {}  # by the name of the first output, in order
    for op in graph.ops:
        while (found := _foldable(current, op, ops, uses)) is not None:
            before, source, affine = found
            del ops[before.outputs[0]]
            op, constants = _absorb(current.view(op), source, affine)
            tensors.update({tensor.name: tensor for tensor in constants})
        ops[op.outputs[0]] = op
    return current.with_ops(ops.values()) if len(ops) < len(graph.ops) else graph


def _foldable(
    graph: Graph, op: Op, made: Mapping[str, Op], uses: Uses
) -> tuple[Op, str, Affine] | None:
    """The operator before ``op`` that may go, the input it works on, and what it does."""
    view = graph.view(op)
    before = made.get(op.inputs[0]) if op.inputs else None
    if before is None or not _has_weights(op) or not takes_constants(view):
        return None
    if uses.only_reader(op.inputs[0]) is None or getattr(before.params, "clamp", 0) != NO_CLAMP:
        return None
    for source in before.inputs:
        affine = affine_of(graph.view(before), source)
        if affine is not None and _fits(view, affine):
            return before, source, affine
    return None


def _has_weights(op: Op) -> bool:
    kinds = Conv2dParams, DepthwiseConv2dParams, TransposeConv2dParams, FullyConnectedParams
    return isinstance(op.params, kinds)


def _fits(view: OpView, affine: Affine) -> bool:
    """Whether an offset, if there is one, adds the same to every output of a channel."""
    if isinstance(view.params, FullyConnectedParams):
        return len(affine.scale) == view.input(1).shape[1]
    if isinstance(view.params, TransposeConv2dParams):
        return not affine.offset.any()
    return not any(view.params.padding) or not affine.offset.any()


def _by_channel(view: OpView, values: Array) -> Array:
    """``values`` per input channel, in a shape that broadcasts with the weights."""
    weight, params = view.input(1), view.params
    if isinstance(params, DepthwiseConv2dParams):
        return np.repeat(values, weight.shape[3] // len(values))
    if isinstance(params, Conv2dParams):
        of_groups = values.reshape(params.groups, -1)
        of_outputs = np.repeat(of_groups, weight.shape[0] // params.groups, axis=0)
        return of_outputs[:, None, None, :]
    return values


def _absorb(view: OpView, source: str, affine: Affine) -> tuple[Op, tuple[Tensor, Tensor]]:
    """``view`` working on ``source``, and its new constants."""
    graph, op = view.graph, view.op
    weight, bias = view.input(1), view.optional(2)
    scale, offset = _by_channel(view, affine.scale), _by_channel(view, affine.offset)
    assert weight.data is not None
    is_depthwise = isinstance(view.params, DepthwiseConv2dParams)
    summed = (0, 1, 2) if is_depthwise else tuple(range(1, len(weight.shape)))
    added = (weight.data.astype(np.float64) * offset).sum(axis=summed)
    old = bias.data if bias is not None and bias.data is not None else np.float32(0)
    new_weight = (weight.data * scale).astype(np.float32)
    new_bias = (old + added).astype(np.float32)
    weight_name = fresh_name(graph, f"{op.outputs[0]}/scaled_weight")
    bias_name = fresh_name(graph, f"{op.outputs[0]}/scaled_bias")
    return replace(op, inputs=(source, weight_name, bias_name)), (
        Tensor(weight_name, weight.shape, "float32", data=new_weight),
        Tensor(bias_name, new_bias.shape, "float32", data=new_bias),
    )
