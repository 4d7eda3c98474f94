"""QDQ models of ONNX Runtime's quantizer become integer kernels, close to what it computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)

from compiler.graph import Graph, Tensor
from compiler.importers.onnx_model.qdq import Origin
from compiler.options import BuildOptions
from compiler.pipeline import lower_model
from compiler.simulator import Simulator
from scripts.host_batch import Prepared, run_batch
from tests.importers.onnx_models import make_model, noise, read_canonical, run_onnxruntime


def network() -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Convolutions of every kind, pools, a sum, a concatenation, and a classifier."""
    weights = {
        "w0": noise(8, 3, 3, 3) * 0.3, "b0": noise(8, seed=1), "w1": noise(8, 1, 3, 3, seed=2),
        "w2": noise(8, 8, 1, 1, seed=3) * 0.4, "b2": noise(8, seed=4),
        "w3": noise(16, 5, seed=5) * 0.5, "b3": noise(5, seed=6),
    }  # fmt: skip
    make = helper.make_node
    nodes = [
        make("Conv", ["x", "w0", "b0"], ["c0"], strides=[2, 2], pads=[1, 1, 1, 1]),
        make("Relu", ["c0"], ["r0"]),
        make("Conv", ["r0", "w1"], ["c1"], group=8, pads=[1, 1, 1, 1]),
        make("Clip", ["c1", "zero", "six"], ["r1"]),
        make("Conv", ["r1", "w2", "b2"], ["c2"]),
        make("Add", ["c2", "r0"], ["a"]),
        make("MaxPool", ["a"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        make("Sigmoid", ["m"], ["s"]),
        make("Concat", ["m", "s"], ["cat"], axis=1),
        make("GlobalAveragePool", ["cat"], ["g"]),
        make("Flatten", ["g"], ["f"]),
        make("Gemm", ["f", "w3", "b3"], ["y"]),
    ]
    limits = {"zero": np.float32(0), "six": np.float32(6)}
    x = {"x": noise(1, 3, 12, 10, seed=9)}
    return make_model(nodes, x, {**weights, **{k: np.array(v) for k, v in limits.items()}}), x


class Samples(CalibrationDataReader):
    def __init__(self, x: dict[str, np.ndarray]) -> None:
        self._left = [{"x": noise(*x["x"].shape, seed=seed)} for seed in range(8)] + [x]

    def get_next(self) -> dict[str, np.ndarray] | None:
        return self._left.pop() if self._left else None


def quantized(
    folder: Path,
    activation: QuantType,
    per_channel: bool,
    form: QuantFormat = QuantFormat.QDQ,
) -> tuple[Path, np.ndarray]:
    """The network by ONNX Runtime's quantizer; an input."""
    model, x = network()
    source, target = folder / "float.onnx", folder / "qdq.onnx"
    onnx.save(model, source)
    quantize_static(
        str(source), str(target), Samples(x), quant_format=form,
        activation_type=activation, weight_type=QuantType.QInt8, per_channel=per_channel,
    )  # fmt: skip
    return target, x["x"]


def _float_kinds(graph: Graph) -> set[str]:
    """Operators that compute in float, the conversions aside."""
    return {
        op.kind
        for op in graph.ops
        if graph.tensors[op.outputs[0]].dtype == "float32"
        and op.kind not in ("dequantize", "quantize", "reshape", "transpose")
    }


@pytest.mark.parametrize("activation", [QuantType.QInt8, QuantType.QUInt8])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("form", [QuantFormat.QDQ, QuantFormat.QOperator])
def test_a_whole_network_is_integer(
    tmp_path: Path, activation: QuantType, per_channel: bool, form: QuantFormat
) -> None:
    path, x = quantized(tmp_path, activation, per_channel, form)
    model = onnx.load(path)
    graph = read_canonical(tmp_path / "again.onnx", model)
    assert not _float_kinds(graph)
    assert not {t.dtype for t in graph.tensors.values()} & {"uint8"}
    assert {op.kind for op in graph.ops} >= {"conv2d", "depthwise_conv2d", "add", "mean"}
    (expected,) = run_onnxruntime(model, {"x": x})
    result = Simulator(graph).run({"x": x})["y"]
    last = next(op for op in reversed(graph.ops) if op.kind == "dequantize")
    unit = graph.tensors[last.inputs[0]].scale
    # Each of nine layers may be one unit off, which the next ones average.
    assert np.abs(result - expected).max() <= 2.01 * unit


def test_what_is_also_read_as_float_stays_float(tmp_path: Path) -> None:
    scale, zero = np.float32(0.1), np.int8(3)
    make = helper.make_node
    nodes = [
        make("QuantizeLinear", ["x", "s", "z"], ["q"]),
        make("DequantizeLinear", ["q", "s", "z"], ["d"]),
        make("Add", ["d", "d"], ["a"]),
        make("QuantizeLinear", ["a", "s", "z"], ["p"]),
        make("DequantizeLinear", ["p", "s", "z"], ["y"]),
    ]
    x = noise(4, 5)
    constants = {"s": np.array(scale), "z": np.array(zero)}
    model = make_model(nodes, {"x": x}, constants, outputs=("y", "a"))
    graph = read_canonical(tmp_path / "model.onnx", model)
    for name, wanted in zip(("y", "a"), run_onnxruntime(model, {"x": x}), strict=True):
        np.testing.assert_allclose(Simulator(graph).run({"x": x})[name], wanted, atol=1e-6)


def test_quantize_rounds_ties_to_even(tmp_path: Path) -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 300, -300], np.float32)
    constants = {"s": np.array(1, np.float32), "z": np.array(0, np.int8)}
    model = make_model(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])], {"x": x}, constants
    )
    graph = read_canonical(tmp_path / "model.onnx", model)
    result = Simulator(graph).run({"x": x})["y"]
    np.testing.assert_array_equal(result, [0, 2, 2, 0, -2, 127, -128])
    np.testing.assert_array_equal(result, run_onnxruntime(model, {"x": x})[0])


def test_scales_along_another_axis_are_not_taken() -> None:

    scales = np.array([0.1, 0.2, 0.4], np.float32)
    integers = np.arange(9, dtype=np.float32).reshape(3, 3)
    origin = Origin("int8", scales, np.zeros(3, np.int64))
    tensor = Tensor("w", (3, 3), "float32", data=integers * scales)
    assert origin.quantized(tensor, 0) is None
    along = origin.quantized(tensor, 1)
    assert along is not None
    np.testing.assert_array_equal(along.data, integers)


def test_the_host_computes_what_the_simulator_does(tmp_path: Path) -> None:
    """The same integers, byte for byte, so the same floats."""
    path, x = quantized(tmp_path, QuantType.QUInt8, True)
    options = BuildOptions()
    expected = Simulator(lower_model(path, options)).run({"x": x})["y"]
    (result,) = run_batch([Prepared.of(path, {"x": x}, options)], tmp_path / "batch")
    assert not isinstance(result, str), result
    np.testing.assert_array_equal(result["y"], expected)
