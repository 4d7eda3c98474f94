"""Small ONNX models for tests, and their comparison with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from compiler.graph import Graph
from compiler.importers import read_model
from compiler.invariants import check_graph
from compiler.loading import load_builtins
from compiler.passes import CANONICAL, run_passes
from compiler.simulator import Simulator

#: Largest error, relative to the range of the output.
TOLERANCE = 1e-4

Arrays = Mapping[str, np.ndarray]


def make_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Arrays,
    constants: Arrays | None = None,
    outputs: Sequence[str] = ("y",),
    opset: int = 18,
) -> onnx.ModelProto:
    """A model whose inputs have the shapes and dtypes of ``inputs``."""
    values = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in inputs.items()
    ]
    graph = helper.make_graph(
        list(nodes),
        "test",
        values,
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run_onnxruntime(model: onnx.ModelProto, inputs: Arrays) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    results: list[np.ndarray] = session.run(None, dict(inputs))
    return results


def read_canonical(path: Path, model: onnx.ModelProto) -> Graph:
    """The model as the pipeline has it before quantization, checked."""
    load_builtins()
    path.write_bytes(model.SerializeToString())
    graph = read_model(path)
    check_graph(graph)
    canonical = run_passes(graph, CANONICAL)
    check_graph(canonical)
    return canonical


def assert_close(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(actual, expected)
        return
    span = max(float(np.ptp(expected)), float(np.abs(expected).max()), 1e-6)
    assert float(np.abs(actual - expected).max()) <= TOLERANCE * span


def compare(path: Path, model: onnx.ModelProto, inputs: Arrays) -> Graph:
    """Kiln's simulator against ONNX Runtime, before and after the canonical passes."""
    expected = run_onnxruntime(model, inputs)
    graph = read_canonical(path, model)
    for each in (read_model(path), graph):
        results = Simulator(each).run({name: inputs[name] for name in each.inputs})
        for value, wanted in zip(model.graph.output, expected, strict=True):
            assert_close(results[value.name], wanted)
    return graph


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


FLOAT = TensorProto.FLOAT
