"""A quantized graph written as QDQ ``.onnx``: ONNX Runtime is within one unit of the output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from compiler.errors import UnsupportedError
from compiler.exporters import write_model
from compiler.exporters.qdq_file import qdq_bytes
from compiler.graph import Graph
from compiler.importers import read_model
from compiler.invariants import check_graph
from compiler.passes import CANONICAL, run_passes
from compiler.simulator import Simulator
from tests.exporters.test_tflite import network, quantized
from tests.quantization.networks import Network


def runtime(data: bytes) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])


def unit(graph: Graph) -> float:
    """The step of the only output, which a dequantize makes."""
    (name,) = graph.outputs
    return graph.tensors[graph.producers()[name].inputs[0]].scale


@pytest.mark.parametrize("quantize", ["int8", "int16x8"])
def test_onnx_runtime_agrees_on_every_operator(quantize: str) -> None:
    """Given the same integers, ONNX Runtime's differ by one at most: it rounds floats once."""
    net, graph = network()
    made = quantized(net, graph, quantize)
    (sample,) = net.samples(1)
    values: dict[str, np.ndarray] = dict(sample)
    Simulator(made).run(sample, values.__setitem__)
    for op in made.ops:
        inputs = tuple(dict.fromkeys(n for n in op.inputs if not made.tensors[n].is_constant))
        single = made.replace(inputs=inputs, outputs=op.outputs).with_ops([op])
        data = qdq_bytes(single)
        onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
        (found,) = runtime(data).run(None, {name: values[name] for name in inputs})
        wanted = values[op.outputs[0]]
        assert found.dtype == wanted.dtype
        allowed = 1 if found.dtype.kind == "i" else 1e-6
        difference = np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max()
        # An int16 sigmoid or softmax of TFLite is interpolated in a table.
        allowed = 4 if quantize == "int16x8" and op.kind in ("logistic", "softmax") else allowed
        assert difference <= allowed, op.name


def test_the_whole_network_agrees() -> None:
    net, graph = network()
    made = quantized(net, graph, "int8")
    session, simulator = runtime(qdq_bytes(made)), Simulator(made)
    for sample in net.samples(8):
        (found,) = session.run(None, sample)
        wanted = simulator.run(sample)[made.outputs[0]]
        # 17 operators, each of which may round the other way.
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2.01 * unit(made))


def test_one_layer_is_within_a_unit() -> None:
    net = Network((1, 8, 8, 4))
    y = net.add("conv2d", "x", net.constant(8, 3, 3, 2, scale=0.2), net.constant(8),
                groups=2, stride=(2, 1), padding=(1, 0, 0, 1), clamp=(0.0, 6.0))  # fmt: skip
    for quantize in ("int8", "int16x8"):
        made = quantized(net, net.graph([y]), quantize)
        session = runtime(qdq_bytes(made))
        for sample in net.samples(8):
            (found,) = session.run(None, sample)
            wanted = Simulator(made).run(sample)[y]
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1.01 * unit(made))


def test_half_weights_are_cast() -> None:
    net, graph = network()
    made = quantized(net, graph, "fp16")
    session = runtime(qdq_bytes(made))
    (sample,) = net.samples(1)
    (found,) = session.run(None, sample)
    np.testing.assert_allclose(found, Simulator(made).run(sample)[made.outputs[0]], atol=1e-5)


def test_it_is_read_back(tmp_path: Path) -> None:
    net, graph = network()
    made = quantized(net, graph, "int8")
    path = tmp_path / "model.onnx"
    write_model(made, path)
    again = run_passes(read_model(path), CANONICAL)
    check_graph(again)
    (sample,) = net.samples(1)
    wanted = Simulator(made).run(sample)[made.outputs[0]]
    found = Simulator(again).run(sample)[again.outputs[0]]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2.01 * unit(made))


def test_everything_that_does_not_fit_is_listed() -> None:
    net = Network((1, 4, 4, 3))
    y = net.add("relu_0_to_1", "x")
    with pytest.raises(UnsupportedError, match="relu_0_to_1 'relu_0_to_10'"):
        qdq_bytes(net.graph([y]))
