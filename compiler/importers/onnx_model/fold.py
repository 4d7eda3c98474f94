"""Evaluates nodes whose inputs are all constant, with the onnx package's own definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

#: Constant inputs do not make these constant.
IMPURE = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial",
          "Bernoulli", "Dropout")  # fmt: skip


def fold(
    node: onnx.NodeProto, inputs: Sequence[np.ndarray | None], opsets: Mapping[str, int]
) -> list[np.ndarray] | None:
    """The node's outputs, or None where onnx has no definition of the operator.

    ``inputs`` has None for absent optional inputs.
    """
    if node.op_type in IMPURE or any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
        return None
    if node.op_type == "Range" and not node.domain:
        return [_range(*(value for value in inputs if value is not None))]
    names = [name for name, value in zip(node.input, inputs, strict=True) if value is not None]
    graph = helper.make_graph(
        [node],
        "fold",
        [helper.make_value_info(name, onnx.TypeProto()) for name in dict.fromkeys(names)],
        [helper.make_value_info(name, onnx.TypeProto()) for name in node.output if name],
    )
    versions = dict(opsets)
    if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
        # Which onnx evaluates in their newer versions only; they mean the same.
        versions[node.domain] = max(versions.get(node.domain, 1), 21)
    imports = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    model = helper.make_model(graph, opset_imports=imports)
    feeds = dict(zip(node.input, inputs, strict=True))
    try:
        evaluator = ReferenceEvaluator(model)
    except (NotImplementedError, KeyError):
        return None
    except RuntimeError as error:
        if "No implementation" in str(error):
            return None
        raise
    values = evaluator.run(None, {name: feeds[name] for name in names})
    if any(value is None or isinstance(value, list | dict) for value in values):
        return None  # a sequence, a map or an optional
    results = iter(values)
    return [np.asarray(next(results)) if name else np.empty(0) for name in node.output]


def _range(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Range, whose inputs may have one element instead of being scalars."""
    first, end, step = (value.reshape(-1)[0] for value in (start, limit, delta))
    count = max(int(np.ceil((float(end) - float(first)) / float(step))), 0)
    return (first + np.arange(count).astype(start.dtype) * step).astype(start.dtype)
