"""Cross-layer equalization: channels between two layers are scaled to use the same int8 range.

What a layer's output channel is divided by, the weights of the next layer multiply back, which
changes nothing as long as what lies between is positively homogeneous: f(s x) = s f(x), s > 0.
After Nagel et al. 2019 (arXiv:1906.04721), with calibrated ranges in place of the first layer's
weights, which are quantized per channel anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from compiler.executor import make_runner
from compiler.graph import NO_CLAMP, Graph, Op, Tensor
from compiler.quantization.linear import linear
from compiler.report.progress import Progress, silent

Array = np.ndarray

#: Operators that may stand between the two layers, besides a clamp at 0 of the first.
HOMOGENEOUS = ("leaky_relu", "max_pool2d", "average_pool2d")

#: Channels are scaled by at most this, or its inverse.
MOST = 64.0


@dataclass(frozen=True)
class Link:
    """Two layers, and the tensor between them that the second reads."""

    first: Op
    second: Op
    tensor: str


def find_links(graph: Graph) -> list[Link]:
    """Pairs of layers with nothing but homogeneous operators between them, in order."""
    producers, consumers = graph.producers(), graph.consumers()
    links = []
    for op in graph.ops:
        if not _is_layer(graph, op):
            continue
        name = op.inputs[0]
        while consumers[name] and len(consumers[name]) == 1 and name not in graph.outputs:
            before = producers.get(name)
            if before is None:
                break
            if _is_layer(graph, before):
                if _passes_scale(before) and _owns_weight(consumers, before, op):
                    links.append(Link(before, op, op.inputs[0]))
                break
            if before.kind not in HOMOGENEOUS or not _passes_scale(before):
                break
            name = before.inputs[0]
    return links


def _is_layer(graph: Graph, op: Op) -> bool:
    view = graph.view(op)
    if op.kind not in linear or not view.input(1).is_constant:
        return False
    bias = view.optional(2)
    ends = (view.input(0).dtype, view.input(1).dtype, view.output().dtype)
    return (bias is None or bias.is_constant) and set(ends) == {"float32"}


def _passes_scale(op: Op) -> bool:
    low, high = getattr(op.params, "clamp", NO_CLAMP)
    return low in (0.0, -np.inf) and high == np.inf


def _owns_weight(consumers: Mapping[str, Sequence[Op]], *ops: Op) -> bool:
    return all(len(consumers[name]) == 1 for op in ops for name in op.inputs[1:] if name)


def channel_maxima(
    graph: Graph, samples: Sequence[Mapping[str, Array]], names: set[str], progress: Progress
) -> dict[str, Array]:
    """The largest magnitude of each channel (the last axis) of some tensors."""
    maxima: dict[str, Array] = {}

    def observe(name: str, value: Array) -> None:
        if name in names:
            found = np.abs(value).max(axis=tuple(range(value.ndim - 1)))
            maxima[name] = np.maximum(maxima.get(name, found), found)

    executor = make_runner(graph, sorted(names)).open()
    for sample in progress(samples, "looking at channels"):
        executor.run(sample, observe)
    return maxima


def equalize(
    graph: Graph, samples: Sequence[Mapping[str, Array]], progress: Progress = silent
) -> Graph:
    """The same function, with channels between layers scaled towards equal ranges."""
    links = find_links(graph)
    if not links:
        return graph
    maxima = channel_maxima(graph, samples, {link.tensor for link in links}, progress)
    tensors = dict(graph.tensors)
    for link in links:
        ranges = maxima[link.tensor].astype(np.float64)
        if link.second.kind == "fully_connected" and tensors[link.second.inputs[1]].shape[1] != len(
            ranges
        ):
            continue  # channels and positions are one row there
        scale = _scales(ranges, _column_sizes(link.second, tensors))
        _divide_outputs(link.first, scale, tensors)
        _multiply_inputs(link.second, scale, tensors)
    return graph.replace(tensors=tensors)


def _data(tensor: Tensor) -> Array:
    assert tensor.data is not None
    return tensor.data


def _column_sizes(op: Op, tensors: Mapping[str, Tensor]) -> Array | None:
    """How much of its output channel's int8 range each input channel's weights use, at most.

    None for a depthwise layer: there each channel has a scale of its own.
    """
    weight = np.abs(_data(tensors[op.inputs[1]]).astype(np.float64))
    if op.kind == "depthwise_conv2d":
        return None
    rows = weight.reshape(len(weight), -1).max(axis=1)
    share = weight / np.where(rows == 0, 1.0, rows).reshape(-1, *[1] * (weight.ndim - 1))
    sizes = share.max(axis=tuple(range(weight.ndim - 1)))
    groups = 1 if op.kind == "fully_connected" else op.params.groups
    if groups == 1:
        return np.asarray(sizes)
    parts = share.reshape(groups, len(weight) // groups, -1, weight.shape[-1])
    return np.asarray(parts.max(axis=(1, 2)).reshape(-1))


def _scales(ranges: Array, columns: Array | None) -> Array:
    """What each channel is divided by; 1 where it is dead."""
    wanted = np.full(len(ranges), ranges.max()) if columns is None else np.sqrt(ranges * columns)
    alive = (ranges > 0) & (wanted > 0)
    scale = np.where(alive, ranges / np.where(alive, wanted, 1.0), 1.0)
    scale /= np.exp(np.log(scale[alive]).mean()) if alive.any() else 1.0
    return np.where(alive, np.clip(scale, 1 / MOST, MOST), 1.0)


def _divide_outputs(op: Op, scale: Array, tensors: dict[str, Tensor]) -> None:
    weight = tensors[op.inputs[1]]
    axis = linear[op.kind].channel_axis
    shape = [-1 if i == axis else 1 for i in range(len(weight.shape))]
    _store(weight, _data(weight) / scale.reshape(shape), tensors)
    if len(op.inputs) > 2 and op.inputs[2]:
        bias = tensors[op.inputs[2]]
        _store(bias, _data(bias) / scale, tensors)


def _multiply_inputs(op: Op, scale: Array, tensors: dict[str, Tensor]) -> None:
    weight = tensors[op.inputs[1]]
    data = _data(weight)
    if op.kind == "depthwise_conv2d":
        factors = np.repeat(scale, data.shape[3] // len(scale))
        _store(weight, data * factors, tensors)
        return
    groups = 1 if op.kind == "fully_connected" else op.params.groups
    parts = data.reshape(groups, len(data) // groups, *data.shape[1:])
    factors = scale.reshape(groups, 1, *[1] * (data.ndim - 2), data.shape[-1])
    _store(weight, (parts * factors).reshape(data.shape), tensors)


def _store(tensor: Tensor, data: Array, tensors: dict[str, Tensor]) -> None:
    tensors[tensor.name] = replace(tensor, data=data.astype(np.float32))
