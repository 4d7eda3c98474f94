"""A quantized graph written as ``.tflite``: LiteRT's reference kernels compute the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compiler.cli.main import run
from compiler.errors import UnsupportedError, UsageError
from compiler.exporters import write_model
from compiler.exporters.tflite_file import tflite_bytes
from compiler.graph import Graph
from compiler.importers import read_model
from compiler.options import BuildOptions
from compiler.passes.io import convert_io
from compiler.quantization import quantize_graph
from compiler.sample import sample_calibration
from compiler.simulator import Simulator
from tests.quantization.networks import Network
from tests.support.tflite_builder import run_litert


def network() -> tuple[Network, Graph]:
    """Every padding, activation and kind of layer that has a form of its own."""
    net = Network((1, 9, 9, 3), seed=4)
    y = net.add("conv2d", "x", net.constant(8, 3, 3, 3, scale=0.3), net.constant(8),
                padding=(1, 1, 1, 1), stride=(2, 2), clamp=(0.0, 6.0))  # fmt: skip
    z = net.add("depthwise_conv2d", y, net.constant(1, 3, 3, 8, scale=0.3), net.constant(8),
                padding=(2, 2, 2, 2), dilation=(2, 2), clamp=(-0.5, 2.0))  # fmt: skip
    z = net.add("add", y, z, clamp=(0.0, np.inf))
    p = net.add("max_pool2d", z, kernel=(2, 2), stride=(1, 1), padding=(0, 1, 0, 1))
    q = net.add("average_pool2d", z, kernel=(3, 3), stride=(1, 1), padding=(1, 1, 1, 1))
    y = net.add("concat", p, q, axis=3)
    y = net.add("conv2d", y, net.constant(6, 2, 2, 16, scale=0.2), padding=(1, 0, 1, 0))
    y = net.add("leaky_relu", y, alpha=0.1)
    y = net.add("transpose", y, permutation=(0, 2, 1, 3))
    y = net.add("pad", y, before=(0, 1, 0, 0), after=(0, 0, 2, 0))
    y = net.add("slice", y, begin=(0, 0, 1, 0), size=(1, 3, 3, 6), stride=(1, 2, 2, 1))
    y = net.add("mean", y, axes=(1, 2), keep_dims=False)
    y = net.add("fully_connected", y, net.constant(7, 6), net.constant(7))
    y = net.add("mul", y, net.add("logistic", y))
    y = net.add("reshape", y, shape=(7, 1))
    y = net.add("reshape", y, shape=(1, 7))
    return net, net.graph([net.add("softmax", y, axis=1)])


def quantized(net: Network, graph: Graph, quantize: str, io: str = "model") -> Graph:
    options = BuildOptions(quantize=quantize)
    return convert_io(quantize_graph(graph, options, samples=net.samples(16)), io)


@pytest.mark.parametrize("quantize", ["int8", "int16x8"])
def test_litert_computes_the_same_bytes(quantize: str) -> None:
    net, graph = network()
    made = quantized(net, graph, quantize)
    data = tflite_bytes(made)
    simulator = Simulator(made)
    for sample in net.samples(4):
        (found,) = run_litert(data, sample)
        np.testing.assert_array_equal(found, simulator.run(sample)[made.outputs[0]])


def test_integers_at_the_edges() -> None:
    net, graph = network()
    made = quantized(net, graph, "int8", "int8")
    data = tflite_bytes(made)
    random = np.random.default_rng(0)
    x = random.integers(-128, 128, (1, 9, 9, 3)).astype(np.int8)
    (found,) = run_litert(data, {"x": x})
    assert found.dtype == np.int8
    np.testing.assert_array_equal(found, Simulator(made).run({"x": x})[made.outputs[0]])


def test_it_is_read_back(tmp_path: Path) -> None:
    net, graph = network()
    made = quantized(net, graph, "int8")
    path = tmp_path / "model.tflite"
    write_model(made, path)
    again = read_model(path)
    assert again.inputs == made.inputs and again.outputs == made.outputs
    (sample,) = net.samples(1)
    for name, wanted in Simulator(made).run(sample).items():
        np.testing.assert_array_equal(Simulator(again).run(sample)[name], wanted)


def test_everything_that_does_not_fit_is_listed() -> None:
    net = Network((1, 4, 4, 3))
    y = net.add("erf", net.add("mish", "x"))
    with pytest.raises(UnsupportedError, match=r"mish 'mish0'.*erf 'erf1'"):
        tflite_bytes(net.graph([y]))


def test_another_ending_is_refused(tmp_path: Path) -> None:
    _, graph = network()
    with pytest.raises(UsageError, match="end it in"):
        write_model(graph, tmp_path / "model.bin")


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "digits.tflite"
    arguments = ["inspect", "--json", "--quantize", "int8", "--calibration"]
    arguments += [str(sample_calibration()), "--write-quantized"]
    assert run([*arguments, str(path)]) == 0
    assert read_model(path).inputs == ("image",)
    assert run([*arguments, str(tmp_path / "digits.bin")]) == 2
    assert "end it in .tflite or .onnx" in capsys.readouterr().err
