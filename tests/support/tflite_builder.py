"""Makes small ``.tflite`` files, and runs them by LiteRT's reference kernels.

model = Builder()
x = model.tensor("x", (1, 4), "int8", scale=0.1, zero_point=3)
y = model.tensor("y", (1, 4), "int8", scale=0.2)
model.op("RELU", [x], [y])
data = model.build(inputs=[x], outputs=[y])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np

from compiler.importers.tflite.schema import schema

_TYPES = {
    "float32": "FLOAT32", "float16": "FLOAT16", "int32": "INT32", "uint8": "UINT8",
    "int64": "INT64", "bool": "BOOL", "int16": "INT16", "int8": "INT8", "complex64": "COMPLEX64",
}  # fmt: skip


@dataclass
class Builder:
    """One subgraph. Tensors are named by their index, operators stand in the order given."""

    tensors: list[Any] = field(default_factory=list)
    buffers: list[bytes] = field(default_factory=lambda: [b""])
    operators: list[Any] = field(default_factory=list)
    codes: list[Any] = field(default_factory=list)

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: str,
        *,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] = 0,
        axis: int = 0,
        data: np.ndarray | None = None,
        is_variable: bool = False,
    ) -> int:
        """Add a tensor (a constant where ``data`` is given); returns its index."""
        s = schema()
        tensor = s.TensorT()
        tensor.name, tensor.shape = name, list(shape)
        tensor.type = getattr(s.TensorType, _TYPES[dtype])
        tensor.buffer = 0
        tensor.isVariable = is_variable
        if scale is not None:
            tensor.quantization = s.QuantizationParametersT()
            tensor.quantization.scale = np.atleast_1d(np.float32(scale)).tolist()
            count = len(tensor.quantization.scale)
            zeros = np.broadcast_to(np.atleast_1d(zero_point), (count,))
            tensor.quantization.zeroPoint = [int(zero) for zero in zeros]
            tensor.quantization.quantizedDimension = axis
        if data is not None:
            tensor.buffer = len(self.buffers)
            self.buffers.append(np.ascontiguousarray(data.astype(dtype)).tobytes())
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str | None = None,
        version: int = 1,
        intermediates: Sequence[int] = (),
        **fields: Any,
    ) -> None:
        """Add builtin operator ``name``; -1 is an absent input.

        ``options`` is the schema's table, such as "Conv2DOptions", ``fields`` its members.
        """
        s = schema()
        code = s.OperatorCodeT()
        code.builtinCode = getattr(s.BuiltinOperator, name)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = version
        operator = s.OperatorT()
        operator.opcodeIndex = len(self.codes)
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        if intermediates:
            operator.intermediates = list(intermediates)
        if options is not None:
            operator.builtinOptionsType = getattr(s.BuiltinOptions, options)
            operator.builtinOptions = getattr(s, f"{options}T")()
            for key, value in fields.items():
                assert hasattr(operator.builtinOptions, key), key
                setattr(operator.builtinOptions, key, value)
        self.codes.append(code)
        self.operators.append(operator)

    def custom(
        self, code: str, inputs: Sequence[int], outputs: Sequence[int], options: bytes
    ) -> None:
        """Add the custom operator ``code``."""
        self.op("CUSTOM", inputs, outputs)
        self.codes[-1].customCode = code
        self.operators[-1].customOptions = np.frombuffer(options, np.uint8)

    def subgraph(self, inputs: Sequence[int], outputs: Sequence[int]) -> Any:
        graph = schema().SubGraphT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs = list(inputs), list(outputs)
        return graph

    def further(self) -> Builder:
        """A builder of another subgraph of the same file."""
        return Builder(buffers=self.buffers, codes=self.codes)

    def build(self, inputs: Sequence[int], outputs: Sequence[int], *further: Any) -> bytes:
        """The file; ``further`` subgraphs come after this one."""
        s = schema()
        model = s.ModelT()
        model.version, model.operatorCodes = 3, self.codes
        model.subgraphs = [self.subgraph(inputs, outputs), *further]
        model.buffers = []
        for data in self.buffers:
            buffer = s.BufferT()
            buffer.data = np.frombuffer(data, np.uint8) if data else None
            model.buffers.append(buffer)
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


class Variables:
    """Named variables of a builder's subgraph, set by a subgraph of their own."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.handles: dict[str, int] = {}
        builder.op("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=1)

    @staticmethod
    def _handle(builder: Builder, name: str) -> int:
        handle = builder.tensor(name, (), "int32")
        builder.tensors[handle].type = schema().TensorType.RESOURCE
        builder.op("VAR_HANDLE", [], [handle], "VarHandleOptions", container="", sharedName=name)
        return handle

    def _known(self, name: str) -> int:
        if name not in self.handles:
            self.handles[name] = self._handle(self.builder, name)
        return self.handles[name]

    def read(self, name: str, output: int) -> int:
        self.builder.op("READ_VARIABLE", [self._known(name)], [output])
        return output

    def assign(self, name: str, value: int) -> None:
        self.builder.op("ASSIGN_VARIABLE", [self._known(name), value], [])

    def initialiser(self, values: Mapping[str, np.ndarray], dtype: str = "float32") -> Any:
        """The subgraph that CALL_ONCE runs."""
        builder = self.builder.further()
        for name, value in values.items():
            handle = self._handle(builder, name)
            constant = builder.tensor(f"{name}/initial", value.shape, dtype, data=value)
            builder.op("ASSIGN_VARIABLE", [handle, constant], [])
        return builder.subgraph([], [])


def run_litert(
    data: bytes, inputs: Mapping[str, np.ndarray], *, reference: bool = True
) -> list[np.ndarray]:
    """Outputs of one inference by LiteRT's reference kernels (BUILTIN_REF).

    An operator that has no reference kernel, and all if not ``reference``, are run by the
    ordinary ones, without delegates.
    """
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    ordinary = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    first = OpResolverType.BUILTIN_REF if reference else ordinary
    try:
        interpreter = Interpreter(model_content=data, experimental_op_resolver_type=first)
    except ValueError:
        interpreter = Interpreter(model_content=data, experimental_op_resolver_type=ordinary)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
