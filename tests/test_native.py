"""Graphs compiled for this machine give what the simulator gives."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.errors import ModelError
from compiler.executor import make_runner
from compiler.native import NativeModel, compile_graph
from compiler.simulator import Simulator
from tests.quantization.networks import Network, quantized


def network() -> Network:
    net = Network((1, 8, 8, 3))
    y = net.add(
        "conv2d", "x", net.constant(4, 3, 3, 3), net.constant(4),
        stride=(1, 1), padding=(1, 1, 1, 1), dilation=(1, 1), groups=1, clamp=(0.0, 6.0),
    )  # fmt: skip
    net.add("mean", y, axes=(1, 2), keep_dims=False)
    return net


def test_integers_are_the_simulator_s() -> None:
    net = network()
    graph = quantized(net.graph([net.ops[-1].outputs[0]]), net.samples(), "mse")
    model, simulator = NativeModel(compile_graph(graph)), Simulator(graph)
    for sample in net.samples(4):
        wanted, found = simulator.run(sample), model.run(sample)
        for name in graph.outputs:
            np.testing.assert_array_equal(found[name], wanted[name])


def test_observed_tensors_are_shown() -> None:
    net = network()
    graph = net.graph([net.ops[-1].outputs[0]])
    names = [name for op in graph.ops for name in op.outputs]
    model = NativeModel(compile_graph(graph, names))
    wanted: dict[str, np.ndarray] = {}
    found: dict[str, np.ndarray] = {}
    (sample,) = net.samples(1)
    Simulator(graph).run(sample, wanted.__setitem__)
    result = model.run(sample, lambda name, value: found.__setitem__(name, value.copy()))
    assert list(result) == list(graph.outputs)
    assert set(found) == set(wanted) == set(names)
    for name in names:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-5)


def test_wrong_inputs_are_refused() -> None:
    net = network()
    model = NativeModel(compile_graph(net.graph([net.ops[-1].outputs[0]])))
    with pytest.raises(ModelError, match="'x' is missing"):
        model.run({})
    with pytest.raises(ModelError, match="given as float32"):
        model.run({"x": np.zeros((1, 8, 8, 4), np.float32)})


def test_without_a_compiler_the_simulator_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("compiler.device.toolchains.Zig.find", lambda *_: None)
    net = network()
    graph = net.graph([net.ops[-1].outputs[0]])
    runner = make_runner(graph)
    assert runner.how == "simulated"
    (sample,) = net.samples(1)
    assert runner.open().run(sample).keys() == set(graph.outputs)
