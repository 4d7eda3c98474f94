"""``.onnx`` to ``Graph``: walks the nodes, folds what is constant, lowers the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from compiler.errors import KilnError, ModelError, UnsupportedError
from compiler.graph import DTYPE_BYTES, Graph, Shape, Tensor
from compiler.importers.onnx_model.builder import Builder
from compiler.importers.onnx_model.fold import fold
from compiler.importers.onnx_model.functions import function_of
from compiler.importers.onnx_model.load import label, load_model, opset_of, ordered
from compiler.importers.onnx_model.metadata import bound_shape, dtype_of, labels, preprocessing
from compiler.importers.onnx_model.node import Node, Reader, reader_of
from compiler.importers.onnx_model.qdq import Origin, fuse_qdq
from compiler.operators.movement import ReshapeParams
from compiler.passes.layout import sink_transposes

#: Operators to whose readers quantized tensors are shown as such, QLinear ones aside; to others
#: they are integers.
KEEP_SCALES = (
    "DequantizeLinear", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice",
    "Split", "Gather", "Identity", "DepthToSpace", "SpaceToDepth", "MaxPool", "Tile", "Expand",
)  # fmt: skip


def read_onnx(path: Path, shapes: Mapping[str, Shape] | None = None) -> Graph:
    """Read ``path``; activations are NHWC inside, inputs and outputs as the file has them.

    ``shapes`` binds the shapes of inputs, by name. Raises ModelError if the file is damaged or a
    dimension is unbound, UnsupportedError with every node that Kiln cannot lower.
    """
    path = Path(path)
    model = load_model(path)
    try:
        reading = _Reading(model, path, dict(shapes or {}))
        graph = reading.graph()
    except ModelError as error:
        message = str(error)
        raise ModelError(message if str(path) in message else f"'{path}': {message}") from error
    return fuse_qdq(sink_transposes(graph), reading.build.origins)


@dataclass
class _Reading:
    """One file on its way to a graph. ``values``: ONNX name to tensor of ``build``."""

    model: onnx.ModelProto
    path: Path
    shapes: dict[str, Shape]
    values: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    absent: dict[str, onnx.NodeProto] = field(default_factory=dict)  # outputs no reader makes
    failed_outside: bool = False  # of the body that is being lowered

    def __post_init__(self) -> None:
        proto = self.model.graph
        self.opset = opset_of(self.model)
        self.opsets = {entry.domain: int(entry.version) for entry in self.model.opset_import}
        names = {name for node in proto.node for name in (*node.input, *node.output)}
        names.update(value.name for value in (*proto.input, *proto.output))
        self.build = Builder(names)

    def graph(self) -> Graph:
        proto = self.model.graph
        self._initializers(proto)
        inputs = [v.name for v in proto.input if v.name not in self.values]
        self._check_shape_names(inputs)
        for value in proto.input:
            if value.name in inputs:
                self._input(value)
        for node in ordered(proto.node):
            self._node(node)
        for value in proto.output:
            if value.name in self.absent:
                self._fail(self.absent[value.name], f"its output '{value.name}' is not computed")
        if self.failures:
            count = len(self.failures)
            raise UnsupportedError(
                f"'{self.path}': {count} unsupported node{'s' if count > 1 else ''}: "
                + "; ".join(self.failures)
            )
        return self._finish(proto, tuple(inputs))

    def _initializers(self, proto: onnx.GraphProto) -> None:
        if proto.sparse_initializer:
            raise UnsupportedError(f"'{self.path}': sparse initialisers; store them dense")
        for initializer in proto.initializer:
            try:
                data = numpy_helper.to_array(initializer)
            except (ValueError, TypeError, KeyError) as error:
                raise ModelError(f"initialiser '{initializer.name}': {error}") from error
            self.values[initializer.name] = self._constant(initializer.name, data)

    def _constant(self, name: str, data: np.ndarray) -> str:
        if data.dtype.name not in DTYPE_BYTES:
            raise UnsupportedError(f"'{self.path}': tensor '{name}' is of type {data.dtype.name}")
        return self.build.add(Tensor(name, data.shape, data.dtype.name, data=data))

    def _check_shape_names(self, inputs: list[str]) -> None:
        for name in self.shapes:
            if name not in inputs:
                raise ModelError(f"no input '{name}' to give a shape; inputs: {', '.join(inputs)}")

    def _input(self, value: onnx.ValueInfoProto) -> None:
        if not value.type.HasField("tensor_type"):
            raise UnsupportedError(f"'{self.path}': input '{value.name}' is not a tensor")
        tensor = value.type.tensor_type
        shape = bound_shape(value.name, tensor, self.shapes.get(value.name))
        dtype = dtype_of(tensor.elem_type)
        name = self.build.add(Tensor(value.name, shape, dtype))
        if 0 in shape:  # which is as good as a constant
            self.build.scope = value.name
            name = self.build.constant(np.empty(shape, dtype), "empty")
        self.values[value.name] = name

    def _node(self, proto: onnx.NodeProto) -> None:
        reader = reader_of(proto)
        missing = [name for name in proto.input if name and name not in self.values]
        for name in missing:
            if name in self.absent:
                self._fail(self.absent[name], f"its output '{name}' is used but not computed")
            elif not (self.failures or self.failed_outside):
                raise ModelError(f"node '{label(proto)}' reads '{name}', which nothing produces")
        if missing:  # behind a failure that is already listed
            if reader is None:
                self._fail(proto, "no such operator")
            return
        self.build.scope = label(proto)
        try:
            outputs = self._folded(proto)
            if outputs is None:
                outputs = self._lowered(proto, reader)
        except UnsupportedError as error:
            self._fail(proto, str(error))
            return
        except Exception as error:
            text = str(error) if isinstance(error, KilnError) else repr(error)
            raise ModelError(f"node '{label(proto)}' ({proto.op_type}): {text}") from error
        for name, tensor in zip(proto.output, outputs, strict=False):
            if name and tensor:
                self.values[name] = tensor
        self.absent.update({n: proto for n in proto.output if n and n not in self.values})

    def _lowered(self, proto: onnx.NodeProto, reader: Reader | None) -> list[str]:
        inputs = tuple(self.values[name] if name else "" for name in proto.input)
        if proto.op_type not in KEEP_SCALES and not proto.op_type.startswith("Q"):
            inputs = tuple(self.build.plain(name) if name else "" for name in inputs)
        if reader is not None:
            result = reader(Node(proto, inputs, self.opset, self.build, self._subgraph))
            return [result] if isinstance(result, str) else list(result)
        tensors = [self.build.tensors[name] if name else None for name in inputs]
        function = function_of(proto, tensors, self.opsets, self.model.functions)
        if function is None:
            raise UnsupportedError("no such operator")
        versions = {entry.domain: int(entry.version) for entry in function.opset_import}
        given = dict(zip(function.input, inputs, strict=False))
        scope = {name: tensor for name, tensor in given.items() if tensor}
        nodes = [_without_absent(node, set(function.input) - set(scope)) for node in function.node]
        outer = self.opsets, self.opset
        self.opsets, self.opset = versions, versions.get("", self.opset)
        try:
            return self._inlined(nodes, scope, list(function.output)[: len(proto.output)])
        finally:
            self.opsets, self.opset = outer

    def _subgraph(self, body: onnx.GraphProto, inputs: Sequence[str]) -> list[str]:
        """Lower the nodes of a branch or a loop's body, which see what is around them."""
        scope = {
            i.name: self.build.constant(numpy_helper.to_array(i), "initializer")
            for i in body.initializer
        }
        scope |= {value.name: name for value, name in zip(body.input, inputs, strict=False)}
        outputs = [value.name for value in body.output]
        return self._inlined(body.node, {**self.values, **scope}, outputs)

    def _inlined(
        self, nodes: Iterable[onnx.NodeProto], scope: dict[str, str], outputs: Sequence[str]
    ) -> list[str]:
        """Lower ``nodes`` on the tensors of ``scope``; raises what they lack as one error."""
        outer = self.values, self.failures, self.absent, self.failed_outside, self.build.scope
        self.failed_outside |= bool(self.failures)
        self.values, self.failures, self.absent = scope, [], {}
        try:
            for node in ordered(nodes):
                self._node(node)
            if self.failures:
                raise UnsupportedError("its body has " + "; ".join(self.failures))
            return [self.values.get(name, "") for name in outputs]
        finally:
            self.values, self.failures, self.absent, self.failed_outside, self.build.scope = outer

    def _fail(self, proto: onnx.NodeProto, why: str) -> None:
        domain = f"{proto.domain}." if proto.domain else ""
        self.failures.append(f"'{label(proto)}' ({domain}{proto.op_type}): {why}")

    def _folded(self, proto: onnx.NodeProto) -> list[str] | None:
        arrays = [self.build.data(self.values[n]) if n else None for n in proto.input]
        if any(array is None for n, array in zip(proto.input, arrays, strict=True) if n):
            return None
        results = fold(proto, arrays, self.opsets)
        if results is None:
            return None
        names = [
            self.build.constant(array, "folded") if name else ""
            for name, array in zip(proto.output, results, strict=True)
        ]
        if proto.op_type == "DequantizeLinear" and names:
            data, scale, *zero = [np.asarray(array) for array in arrays if array is not None]
            point = zero[0] if zero else np.zeros_like(scale, data.dtype)
            self.build.origins[names[0]] = Origin(data.dtype.name, scale, point.astype(np.int64))
        return names

    def _finish(self, proto: onnx.GraphProto, inputs: tuple[str, ...]) -> Graph:
        outputs = tuple(value.name for value in proto.output)
        for name in outputs:
            if name not in self.values:
                raise ModelError(f"output '{name}' is produced by nothing; export the model again")
        names = self._file_names(inputs, outputs)
        graph = Graph(
            proto.name or self.path.stem,
            {names.get(n, n): replace(t, name=names.get(n, n))
             for n, t in self.build.tensors.items()},
            tuple(
                replace(
                    op,
                    inputs=tuple(names.get(n, n) for n in op.inputs),
                    outputs=tuple(names.get(n, n) for n in op.outputs),
                )
                for op in self.build.ops
            ),
            inputs,
            outputs,
            labels=labels(self.model),
            preprocessing=preprocessing(self.model, inputs),
        )  # fmt: skip
        return _without_dead_ops(graph)

    def _file_names(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> dict[str, str]:
        """Tensor to the name the file has for it; outputs come first, and are copied if shared."""
        names: dict[str, str] = {}
        produced = {name for op in self.build.ops for name in op.outputs}
        for name in outputs:
            tensor = self.values[name]
            if tensor in names or tensor not in produced:
                self.build.scope = name
                params = ReshapeParams(self.build.shape(tensor))
                tensor = self.build.emit("reshape", tensor, params=params)
            names[tensor] = name
        for name, tensor in self.values.items():
            if tensor in produced and tensor not in names and name not in outputs:
                names[tensor] = name
        return names


def _without_absent(proto: onnx.NodeProto, absent: set[str]) -> onnx.NodeProto:
    """A function's node without the inputs that its caller leaves out."""
    node = onnx.NodeProto()
    node.CopyFrom(proto)
    node.input[:] = ["" if name in absent else name for name in node.input]
    return node


def _without_dead_ops(graph: Graph) -> Graph:
    wanted = set(graph.outputs)
    kept = []
    for op in reversed(graph.ops):
        if wanted.intersection(op.outputs):
            wanted.update(op.inputs)
            kept.append(op)
    return graph.with_ops(reversed(kept))
