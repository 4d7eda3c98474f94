"""Puts a ``.tflite`` file together: tensors, buffers and operators of one subgraph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import flatbuffers
import numpy as np

from compiler.errors import UnsupportedError
from compiler.graph import Graph, OpView, Tensor
from compiler.importers.tflite.schema import schema
from compiler.registry import Attribute

_TYPES = {
    "float32": "FLOAT32", "float16": "FLOAT16", "int32": "INT32", "uint8": "UINT8",
    "int64": "INT64", "bool": "BOOL", "int16": "INT16", "int8": "INT8", "uint32": "UINT32",
}  # fmt: skip


class NotInFormat(Exception):
    """The operator cannot be said in the format; the text says why."""


@dataclass
class TfliteWriter:
    """What lowerings add to; a tensor is known by its index in the file."""

    graph: Graph
    tensors: list[Any] = field(default_factory=list)
    buffers: list[bytes] = field(default_factory=lambda: [b""])
    operators: list[Any] = field(default_factory=list)
    codes: dict[tuple[int, int], int] = field(default_factory=dict)
    index: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        """The graph's tensor ``name``; -1 where an optional input is absent."""
        if not name:
            return -1
        if name not in self.index:
            self.index[name] = self.add(self.graph.tensors[name])
        return self.index[name]

    def add(self, tensor: Tensor) -> int:
        """A tensor, with its data if it is a constant."""
        s = schema()
        if tensor.dtype not in _TYPES:
            raise NotInFormat(f"a tensor of {tensor.dtype}")
        made = s.TensorT()
        made.name, made.shape = tensor.name, list(tensor.shape)
        made.type = getattr(s.TensorType, _TYPES[tensor.dtype])
        made.buffer = 0
        if tensor.quant is not None:
            made.quantization = s.QuantizationParametersT()
            made.quantization.scale = [float(np.float32(v)) for v in tensor.quant.scale]
            made.quantization.zeroPoint = list(tensor.quant.zero_point)
            made.quantization.quantizedDimension = tensor.quant.axis or 0
        if tensor.data is not None:
            made.buffer = len(self.buffers)
            self.buffers.append(np.ascontiguousarray(tensor.data).tobytes())
        self.tensors.append(made)
        return len(self.tensors) - 1

    def integers(self, name: str, values: Any) -> int:
        """An int32 constant."""
        data = np.array(values, np.int32)
        return self.add(Tensor(name, data.shape, "int32", data=data))

    def inner(self, like: Tensor, ending: str, shape: Sequence[int] | None = None) -> int:
        """A new tensor of the type and scale of ``like``."""
        wanted = like.shape if shape is None else tuple(shape)
        name = f"{like.name}/{ending}"
        return self.add(replace(like, name=name, shape=wanted, data=None, is_state=False))

    def op(
        self, name: str, inputs: Sequence[int], outputs: Sequence[int], options: str | None = None,
        version: int = 1, **fields: Any,
    ) -> None:  # fmt: skip
        """An operator; ``options`` is its table in the schema without "Options"."""
        s = schema()
        operator = s.OperatorT()
        code = getattr(s.BuiltinOperator, name), version
        operator.opcodeIndex = self.codes.setdefault(code, len(self.codes))
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        if options is not None:
            operator.builtinOptionsType = getattr(s.BuiltinOptions, f"{options}Options")
            operator.builtinOptions = getattr(s, f"{options}OptionsT")()
            for key, value in fields.items():
                setattr(operator.builtinOptions, key, value)
        self.operators.append(operator)

    def finish(self) -> bytes:
        s = schema()
        subgraph = s.SubGraphT()
        subgraph.inputs = [self.of(name) for name in self.graph.inputs]
        subgraph.outputs = [self.of(name) for name in self.graph.outputs]
        subgraph.tensors, subgraph.operators = self.tensors, self.operators
        subgraph.name = self.graph.name
        model = s.ModelT()
        model.version, model.subgraphs, model.description = 3, [subgraph], "Made by Kiln."
        model.operatorCodes = []
        for builtin, version in self.codes:
            code = s.OperatorCodeT()
            code.builtinCode, code.version = builtin, version
            code.deprecatedBuiltinCode = min(builtin, 127)
            model.operatorCodes.append(code)
        model.buffers = []
        for data in self.buffers:
            buffer = s.BufferT()
            buffer.data = np.frombuffer(data, np.uint8) if data else None
            model.buffers.append(buffer)
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


Lowering = Callable[[TfliteWriter, OpView], None]

#: ``tflite_form(writer, view)`` adds the operator to the file, or raises NotInFormat.
tflite_form: Attribute[Lowering] = Attribute("tflite_form")


def tflite_bytes(graph: Graph) -> bytes:
    """The graph as a file. Raises UnsupportedError listing what it cannot hold."""
    from compiler.exporters import tflite_operators  # noqa: F401  registers the lowerings

    writer = TfliteWriter(graph)
    refused: list[str] = []
    if any(tensor.is_state for tensor in graph.tensors.values()):
        refused.append("state tensors")
    for name in graph.inputs:
        writer.of(name)
    for op in graph.ops:
        lowering = tflite_form.get(op.kind)
        try:
            if lowering is None:
                raise NotInFormat("no form")
            lowering(writer, graph.view(op))
        except NotInFormat as reason:
            refused.append(f"{op.kind} '{op.name}' ({reason})")
    if refused:
        raise UnsupportedError(f"a .tflite file cannot hold {', '.join(refused)}; write an .onnx")
    return writer.finish()
