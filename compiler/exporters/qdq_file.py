"""Puts a QDQ ``.onnx`` together: float operators between QuantizeLinear and DequantizeLinear.

Every quantized tensor is one that QuantizeLinear makes, or an integer constant; whoever reads it
reads it through DequantizeLinear. Images go through transposes, since ONNX has channels first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from compiler.errors import UnsupportedError
from compiler.exporters.tflite_file import NotInFormat
from compiler.graph import Graph, OpView, Tensor
from compiler.registry import Attribute

#: 21 is the first with 16-bit QuantizeLinear; what 18 can say, more runtimes read.
OPSET, WIDE_OPSET = 18, 21
IR_VERSION = 10

_TYPES = {
    "float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32,
    "int64": TensorProto.INT64, "bool": TensorProto.BOOL,
}  # fmt: skip


@dataclass
class QdqWriter:
    """What lowerings add to; values are known by name."""

    graph: Graph
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: dict[str, onnx.TensorProto] = field(default_factory=dict)
    count: int = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}/{self.count}"

    def node(self, kind: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """Add a node; returns the name of its output, a new one unless given."""
        output = output or self.fresh(kind)
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def constant(self, data: np.ndarray, stem: str = "constant") -> str:
        name = self.fresh(stem)
        self.initializers[name] = numpy_helper.from_array(np.array(data, order="C"), name)
        return name

    def integers(self, values: Sequence[int]) -> str:
        return self.constant(np.array(values, np.int64))

    def stored(self, tensor: Tensor) -> str:
        """The tensor as it is stored: an initializer if it is a constant."""
        if tensor.data is not None and tensor.name not in self.initializers:
            array = numpy_helper.from_array(np.array(tensor.data, order="C"), tensor.name)
            self.initializers[tensor.name] = array
        return tensor.name

    def real(self, tensor: Tensor) -> str:
        """The tensor's real values."""
        if tensor.quant is None:
            return self.stored(tensor)
        return self.node("DequantizeLinear", [self.stored(tensor), *self._scale(tensor)],
                         **self._axis(tensor))  # fmt: skip

    def weight(self, tensor: Tensor, data: np.ndarray, axis: int) -> str:
        """A constant laid out anew as ``data``, its channels along ``axis``; real values."""
        name = self.constant(data, tensor.name)
        if tensor.dtype == "float16":
            return self.node("Cast", [name], to=TensorProto.FLOAT)
        if tensor.quant is None:
            return name
        along: dict[str, Any] = {"axis": axis} if tensor.quant.per_channel else {}
        return self.node("DequantizeLinear", [name, *self._scale(tensor)], **along)

    def bias(self, tensor: Tensor) -> str:
        """Real values; ONNX cannot dequantize 64 bits, which become floats here."""
        if tensor.dtype != "int64" or tensor.quant is None or tensor.data is None:
            return self.real(tensor)
        return self.constant((tensor.data * np.array(tensor.quant.scale)).astype(np.float32))

    def result(self, tensor: Tensor, real: str) -> None:
        """``tensor`` of the graph from its real values."""
        if tensor.quant is None:
            self.node("Identity", [real], tensor.name)
            return
        inputs = [real, *self._scale(tensor)]
        self.node("QuantizeLinear", inputs, tensor.name, **self._axis(tensor))

    def _scale(self, tensor: Tensor) -> list[str]:
        quant = tensor.quant
        assert quant is not None
        scale, zero = np.array(quant.scale, np.float32), np.array(quant.zero_point, tensor.dtype)
        if not quant.per_channel:
            scale, zero = scale[0], zero[0]
        return [self.constant(scale, "scale"), self.constant(zero, "zero_point")]

    @staticmethod
    def _axis(tensor: Tensor) -> dict[str, Any]:
        quant = tensor.quant
        return {"axis": quant.axis or 0} if quant is not None and quant.per_channel else {}

    def finish(self) -> bytes:
        def infos(names: Sequence[str]) -> list[onnx.ValueInfoProto]:
            make = helper.make_tensor_value_info
            tensors = [self.graph.tensors[name] for name in names]
            return [make(t.name, _TYPES[t.dtype], t.shape) for t in tensors]

        made = helper.make_graph(
            self.nodes, self.graph.name or "model", infos(self.graph.inputs),
            infos(self.graph.outputs), list(self.initializers.values()),
        )  # fmt: skip
        is_wide = any(tensor.dtype == "int16" for tensor in self.graph.tensors.values())
        opset = helper.make_opsetid("", WIDE_OPSET if is_wide else OPSET)
        model = helper.make_model(made, producer_name="Kiln", opset_imports=[opset])
        model.ir_version = IR_VERSION
        return model.SerializeToString(deterministic=True)


Lowering = Callable[[QdqWriter, OpView], str]

#: ``qdq_form(writer, view)`` adds float nodes and returns the name of their result, the real
#: values of the operator's output; or raises NotInFormat.
qdq_form: Attribute[Lowering] = Attribute("qdq_form")


def qdq_bytes(graph: Graph) -> bytes:
    """The graph as a file. Raises UnsupportedError listing what it cannot hold."""
    from compiler.exporters import qdq_operators  # noqa: F401  registers the lowerings

    writer = QdqWriter(graph)
    refused: list[str] = []
    if any(tensor.is_state for tensor in graph.tensors.values()):
        refused.append("state tensors")
    for op in graph.ops:
        lowering, view = qdq_form.get(op.kind), graph.view(op)
        try:
            if lowering is None or len(op.outputs) != 1:
                raise NotInFormat("no form")
            writer.result(view.output(), lowering(writer, view))
        except NotInFormat as reason:
            refused.append(f"{op.kind} '{op.name}' ({reason})")
    if refused:
        raise UnsupportedError(f"a QDQ .onnx file cannot hold {', '.join(refused)}")
    return writer.finish()
