"""Operators that are made of others: the onnx package's own definitions, and a file's functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import onnx
from onnx import defs

from compiler.graph import Tensor
from compiler.importers.onnx_model.metadata import DTYPES

Attributes = Mapping[str, onnx.AttributeProto]


def function_of(
    proto: onnx.NodeProto,
    inputs: Sequence[Tensor | None],
    opsets: Mapping[str, int],
    own: Iterable[onnx.FunctionProto],
) -> onnx.FunctionProto | None:
    """What ``proto`` stands for, with its attributes put in; None where it is no function.

    ``own`` are the functions of the file, ``opsets`` the versions that it imports.
    """
    for function in own:
        if (function.domain, function.name) == (proto.domain, proto.op_type):
            given = {a.name: a for a in function.attribute_proto}
            return _with_attributes(function, given | {a.name: a for a in proto.attribute})
    try:
        schema = defs.get_schema(proto.op_type, opsets.get(proto.domain, 1), proto.domain)
    except defs.SchemaError:
        return None
    body = _schema_body(schema, proto, inputs, opsets.get("", 1))
    if body is None:
        return None
    defaults = {
        name: attribute.default_value
        for name, attribute in schema.attributes.items()
        if attribute.default_value.name
    }
    return _with_attributes(body, defaults | {a.name: a for a in proto.attribute})


def _schema_body(
    schema: Any, proto: onnx.NodeProto, inputs: Sequence[Tensor | None], opset: int
) -> onnx.FunctionProto | None:
    """The newest definition that the opset allows, else the oldest there is.

    ``schema`` is an OpSchema, of which onnx's type hints lack what is used here.
    """
    if schema.has_function:
        versions = schema.function_opset_versions
        return _parsed(schema.get_function_with_opset_version(_newest(versions, opset)))
    if schema.has_context_dependent_function:
        return _parsed(_with_context(schema, proto, inputs, opset))
    return None


def _with_context(
    schema: Any, proto: onnx.NodeProto, inputs: Sequence[Tensor | None], opset: int
) -> bytes:
    """A definition that depends on the attributes and types."""
    version = _newest(schema.context_dependent_function_opset_versions, opset)
    types = [_type(tensor).SerializeToString() for tensor in inputs]
    body: bytes = schema.get_context_dependent_function_with_opset_version(
        version, proto.SerializeToString(), types
    )
    return body


def _newest(versions: Sequence[int], opset: int) -> int:
    return max((v for v in versions if v <= opset), default=min(versions))


def _parsed(data: bytes) -> onnx.FunctionProto | None:
    function = onnx.FunctionProto()
    function.ParseFromString(data)
    return function if function.node else None


def _type(tensor: Tensor | None) -> onnx.TypeProto:
    if tensor is None:
        return onnx.TypeProto()
    names = {name: key for key, name in DTYPES.items()}
    element = onnx.TensorProto.DataType.Value(names[tensor.dtype])
    return onnx.helper.make_tensor_type_proto(element, tensor.shape)


def _with_attributes(function: onnx.FunctionProto, given: Attributes) -> onnx.FunctionProto:
    result = onnx.FunctionProto()
    result.CopyFrom(function)
    for node in result.node:
        _substitute(node, given)
    return result


def _substitute(node: onnx.NodeProto, given: Attributes) -> None:
    """References to the function's attributes become values; those left out vanish."""
    attributes = list(node.attribute)
    del node.attribute[:]
    for attribute in attributes:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in given:
                value = node.attribute.add()
                value.CopyFrom(given[attribute.ref_attr_name])
                value.name = attribute.name
            continue
        if attribute.type == onnx.AttributeProto.GRAPH:
            for inner in attribute.g.node:
                _substitute(inner, given)
        node.attribute.append(attribute)
