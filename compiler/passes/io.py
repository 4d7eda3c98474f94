"""The types of a model's inputs and outputs: as the file has them, all int8, or all float.

The names stay the file's, so that a user's arrays fit either way.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.graph import Graph, Op, Tensor
from compiler.operators.quantization import QuantizeParams


def convert_io(graph: Graph, io: str) -> Graph:
    """``io``: "model", "int8" (no quantize / dequantize at the edges) or "float"."""
    if io == "int8":
        return _strip_outputs(_strip_inputs(graph))
    if io == "float":
        return _add_dequantize(_add_quantize(graph))
    return graph


def _rename(graph: Graph, old: str, new: Tensor) -> Graph:
    """``old`` becomes ``new`` everywhere; a tensor already called so must be gone."""

    def swap(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new.name if name == old else name for name in names)

    tensors = {name: t for name, t in graph.tensors.items() if name != old} | {new.name: new}
    ops = tuple(replace(op, inputs=swap(op.inputs), outputs=swap(op.outputs)) for op in graph.ops)
    return graph.replace(
        tensors=tensors, ops=ops, inputs=swap(graph.inputs), outputs=swap(graph.outputs)
    )


def _strip_inputs(graph: Graph) -> Graph:
    """An input that only goes into one quantize becomes that quantize's output."""
    for name in graph.inputs:
        users = graph.consumers()[name]
        if len(users) != 1 or users[0].kind != "quantize" or name in graph.outputs:
            continue
        quantized = graph.tensors[users[0].outputs[0]]
        if quantized.name in graph.outputs:
            continue
        remaining = tuple(op for op in graph.ops if op is not users[0])
        graph = graph.replace(ops=remaining)
        graph = _rename(graph, quantized.name, replace(quantized, name=name))
    return graph.with_ops(graph.ops)


def _strip_outputs(graph: Graph) -> Graph:
    """An output that a dequantize makes becomes that dequantize's input."""
    for name in graph.outputs:
        op = graph.producers().get(name)
        if op is None or op.kind != "dequantize" or graph.consumers()[name]:
            continue
        source = graph.tensors[op.inputs[0]]
        if source.name in graph.inputs or source.name in graph.outputs or source.is_constant:
            continue
        graph = graph.replace(ops=tuple(other for other in graph.ops if other is not op))
        graph = _rename(graph, source.name, replace(source, name=name))
    return graph.with_ops(graph.ops)


def _fresh(graph: Graph, stem: str) -> str:
    name = stem
    while name in graph.tensors:
        name += "_"
    return name


def _add_quantize(graph: Graph) -> Graph:
    """A quantized input becomes float, with a quantize behind it."""
    for name in graph.inputs:
        tensor = graph.tensors[name]
        if tensor.quant is None:
            continue
        inner = replace(tensor, name=_fresh(graph, f"{name}_quantized"))
        moved = _rename(graph, name, inner)
        op = Op("quantize", name, (name,), (inner.name,), QuantizeParams())
        graph = moved.replace(
            tensors={**moved.tensors, name: Tensor(name, tensor.shape, "float32")},
            ops=(op, *moved.ops),
            inputs=graph.inputs,
        )
    return graph


def _add_dequantize(graph: Graph) -> Graph:
    """A quantized output becomes float, with a dequantize before it."""
    for name in graph.outputs:
        tensor = graph.tensors[name]
        if tensor.quant is None or name in graph.inputs:
            continue
        inner = replace(tensor, name=_fresh(graph, f"{name}_quantized"))
        moved = _rename(graph, name, inner)
        op = Op("dequantize", name, (inner.name,), (name,), QuantizeParams())
        graph = moved.replace(
            tensors={**moved.tensors, name: Tensor(name, tensor.shape, "float32")},
            ops=(*moved.ops, op),
            outputs=graph.outputs,
        )
    return graph
