"""16-bit activations, float16 weights, mixed precision within a budget."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.errors import FitError, UsageError
from compiler.graph import Graph
from compiler.invariants import check_graph
from compiler.native import NativeModel, compile_graph
from compiler.options import BuildOptions
from compiler.quantization import quantize_graph
from compiler.quantization.budget import Budget, parse_budget
from compiler.quantization.mixed import MixedWarning
from compiler.simulator import Simulator
from tests.quantization.networks import Network, kinds, sqnr_db


def classifier() -> tuple[Network, Graph]:
    net = Network((1, 8, 8, 3), seed=2)
    y = net.add("conv2d", "x", net.constant(16, 3, 3, 3, scale=0.3), net.constant(16),
                padding=(1, 1, 1, 1), clamp=(0.0, np.inf))  # fmt: skip
    y = net.add("depthwise_conv2d", y, net.constant(1, 3, 3, 16, scale=0.3), net.constant(16),
                clamp=(0.0, 6.0))  # fmt: skip
    y = net.add("mean", y, axes=(1, 2))
    y = net.add("fully_connected", y, net.constant(20, 16, scale=0.5), net.constant(20))
    return net, net.graph([y])


def made(net: Network, graph: Graph, quantize: str, *budget: str, **options: object) -> Graph:
    chosen = BuildOptions(quantize=quantize, budget=budget, **options)  # type: ignore[arg-type]
    result = quantize_graph(graph, chosen, samples=net.samples(16))
    check_graph(result)
    return result


def test_16_bits_follow_closer_than_8() -> None:
    net, graph = classifier()
    ratios = {q: sqnr_db(graph, made(net, graph, q), net.samples(8)) for q in ("int8", "int16x8")}
    assert ratios["int16x8"] > ratios["int8"] + 3
    wide = made(net, graph, "int16x8")
    (op,) = (op for op in wide.ops if op.kind == "conv2d")
    x, weight, bias = (wide.tensors[name] for name in op.inputs)
    assert (x.dtype, weight.dtype, bias.dtype) == ("int16", "int8", "int64")
    assert x.zero_point == 0 and wide.tensors[op.outputs[0]].zero_point == 0


def test_16_bits_on_the_kernels() -> None:
    net, graph = classifier()
    wide = made(net, graph, "int16x8", rounding="adaptive")
    model, simulator = NativeModel(compile_graph(wide)), Simulator(wide)
    for sample in net.samples(4):
        wanted, found = simulator.run(sample), model.run(sample)
        np.testing.assert_array_equal(found[graph.outputs[0]], wanted[graph.outputs[0]])


def test_half_weights() -> None:
    net, graph = classifier()
    half = made(net, graph, "fp16")
    assert kinds(half).count("dequantize") == 2  # the depthwise weight is too small
    stored = [t for t in half.tensors.values() if t.dtype == "float16"]
    assert {t.shape for t in stored} == {(16, 3, 3, 3), (20, 16)}
    assert sqnr_db(graph, half, net.samples(4)) > 60
    (sample,) = net.samples(1)
    found = NativeModel(compile_graph(half)).run(sample)
    for name, wanted in Simulator(half).run(sample).items():
        np.testing.assert_allclose(found[name], wanted, atol=1e-4)


def test_weights_beyond_float16_stay() -> None:
    net = Network((2, 32))
    graph = net.graph([net.add("fully_connected", "x", net.constant(32, 32, scale=1e5))])
    assert made(net, graph, "fp16").ops[0].kind == "fully_connected"


def precisions(graph: Graph) -> dict[str, int]:
    """How many operators read activations of each dtype, conversions aside."""
    found: dict[str, int] = {}
    for op in graph.ops:
        if op.kind not in ("quantize", "dequantize", "requantize"):
            dtype = graph.view(op).input(0).dtype
            found[dtype] = found.get(dtype, 0) + 1
    return found


def test_mixed_buys_accuracy_within_a_latency() -> None:
    net, graph = classifier()
    int8 = made(net, graph, "int8")
    some, most = (made(net, graph, "mixed", f"latency={times}x") for times in (1.6, 100))
    assert 0 < precisions(some)["int8"] < precisions(int8)["int8"]
    others = net.samples(8)
    ratios = [sqnr_db(graph, each, others) for each in (int8, some, most)]
    assert ratios == sorted(ratios) and ratios[2] > ratios[0] + 6


def test_mixed_takes_no_more_than_an_accuracy_needs() -> None:
    net, graph = classifier()
    assert precisions(made(net, graph, "mixed", "accuracy=20dB")) == {"int8": 4}
    closer = made(net, graph, "mixed", "accuracy=49dB")
    assert 0 < precisions(closer).get("int8", 0) < 4
    assert sqnr_db(graph, closer, net.samples(8)) > 46


def test_what_mixed_cannot_do() -> None:
    net, graph = classifier()
    with pytest.raises(FitError, match="even the int8 model"):
        made(net, graph, "mixed", "ram=100")
    with pytest.warns(MixedWarning, match="not reached"):
        made(net, graph, "mixed", "accuracy=60dB", "latency=1.01x")


def test_budgets() -> None:
    assert parse_budget(["latency=1.5x,ram=64KiB"]) == Budget(latency=1.5, ram_bytes=65536)
    assert parse_budget(["accuracy=1%"]) == Budget(changed=0.01)
    assert parse_budget(["accuracy=35 dB"]) == Budget(sqnr_db=35.0)
    assert parse_budget([]).has_accuracy
    for text in ("latency=fast", "ram=", "accuracy=3", "speed=1x", "latency=5GB"):
        with pytest.raises(UsageError, match="--budget"):
            parse_budget([text])


def test_a_float_layer_among_integers_keeps_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compiler.quantization.mixed.WORTH", 1.1)  # 16 bits never suffice
    net, graph = classifier()
    mixed = made(net, graph, "mixed", "latency=3x")
    assert {"int8", "float32"} <= set(precisions(mixed))
    floats = [op for op in mixed.ops if op.kind in ("conv2d", "fully_connected")]
    floats = [op for op in floats if mixed.view(op).input(0).dtype == "float32"]
    assert floats
    for op in floats:
        assert mixed.tensors[op.inputs[1]].data is graph.tensors[op.inputs[1]].data
