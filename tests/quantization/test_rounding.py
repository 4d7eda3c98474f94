"""Weights on their grid, rounded so that outputs change least; biases that take up the mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from compiler.graph import Graph
from compiler.invariants import check_graph
from compiler.quantization import calibrate, quantize_int8
from compiler.quantization.linear import linear
from compiler.quantization.rounding import (
    collect_moments,
    improve_weights,
    prepare_weights,
    weighted_ops,
)
from compiler.simulator import Simulator
from tests.quantization.networks import Network, sqnr_db

Samples = Sequence[dict[str, np.ndarray]]


def correlated(net: Network, count: int) -> list[dict[str, np.ndarray]]:
    """Inputs whose channels and neighbours mostly say the same, and are positive."""
    shape = net.input_shape
    mixing = np.random.default_rng(5).normal(size=(shape[-1], shape[-1])) + 2.0
    found = []
    for sample in net.samples(count):
        x = sample["x"] @ mixing
        x = 0.2 * x + x[:, :1, :1] if x.ndim == 4 else x
        found.append({"x": np.maximum(x, 0).astype(np.float32)})
    return found


def layer(kind: str, *, groups: int = 1) -> tuple[Network, Graph]:
    net = Network((1, 6, 6, 8) if kind != "fully_connected" else (6, 16), seed=3)
    if kind == "conv2d":
        weight = net.constant(12, 3, 3, 8 // groups)
        y = net.add(kind, "x", weight, net.constant(12), groups=groups, padding=(1, 1, 1, 1))
    elif kind == "depthwise_conv2d":
        y = net.add(kind, "x", net.constant(1, 3, 3, 16), padding=(1, 1, 1, 1))
    else:
        y = net.add(kind, "x", net.constant(10, 16), net.constant(10))
    return net, net.graph([y])


KINDS = [("conv2d", 1), ("conv2d", 2), ("depthwise_conv2d", 1), ("fully_connected", 1)]


@pytest.mark.parametrize(("kind", "groups"), KINDS)
def test_the_linear_form_is_the_operator(kind: str, groups: int) -> None:
    net, graph = layer(kind, groups=groups)
    (op,) = graph.ops
    view, form = graph.view(op), linear[kind]
    (sample,) = net.samples(1)
    weight = view.input(1).data
    assert weight is not None
    rows = form.rows(view, weight)
    np.testing.assert_array_equal(form.weight(view, rows), weight)
    product = np.einsum("gok,gpk->pgo", rows, form.patches(view, sample["x"]))
    wanted = Simulator(graph).run(sample)[op.outputs[0]]
    bias = view.optional(2)
    if bias is not None:
        wanted = wanted - bias.data
    np.testing.assert_allclose(product.reshape(wanted.shape), wanted, atol=1e-4)


def output_error(graph: Graph, other: Graph, samples: Samples) -> np.ndarray:
    """Per sample and element, of the first output."""
    before, after = Simulator(graph), Simulator(other)
    name = graph.outputs[0]
    return np.stack([after.run(s)[name] - before.run(s)[name] for s in samples])


@pytest.mark.parametrize(("kind", "groups"), KINDS)
def test_adaptive_rounding_changes_outputs_less(kind: str, groups: int) -> None:
    net, graph = layer(kind, groups=groups)
    samples, others = correlated(net, 24), correlated(net, 8)
    nearest = improve_weights(graph, samples, "nearest")
    adaptive = improve_weights(graph, samples, "adaptive")
    errors = [np.square(output_error(graph, each, others)).mean() for each in (nearest, adaptive)]
    assert errors[1] < 0.7 * errors[0]


def test_the_bias_takes_up_the_mean() -> None:
    net, graph = layer("fully_connected")
    samples = correlated(net, 24)
    error = output_error(graph, improve_weights(graph, samples), samples)
    plain = prepare_weights(graph, {}, is_adaptive=False)
    int8 = quantize_int8(plain, calibrate(graph, samples, "minmax"))
    before = output_error(graph, int8, samples)
    assert np.abs(error.mean(axis=(0, 1))).max() < 1e-4
    assert np.abs(before.mean(axis=(0, 1))).max() > 1e-3


def test_prepared_weights_are_what_is_stored() -> None:
    net, graph = layer("conv2d")
    samples = correlated(net, 8)
    prepared = improve_weights(graph, samples, "adaptive")
    int8 = quantize_int8(prepared, calibrate(graph, samples))
    check_graph(int8)
    (op,) = (op for op in int8.ops if op.kind == "conv2d")
    stored = int8.tensors[op.inputs[1]]
    wanted = prepared.tensors[prepared.ops[0].inputs[1]]
    assert stored.quant is not None and stored.data is not None and wanted.data is not None
    real = stored.data * np.array(stored.quant.scale).reshape(-1, 1, 1, 1)
    np.testing.assert_allclose(real, wanted.data, rtol=1e-6, atol=1e-9)


def test_a_shared_weight_is_left_alone() -> None:
    net = Network((4, 8))
    weight = net.constant(8, 8)
    y = net.add("fully_connected", net.add("fully_connected", "x", weight), weight)
    graph = net.graph([y])
    assert weighted_ops(graph) == []
    assert improve_weights(graph, net.samples(4)).tensors[weight] is graph.tensors[weight]


def test_long_rows_go_by_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    net, graph = layer("conv2d")
    samples, others = correlated(net, 24), correlated(net, 8)
    monkeypatch.setattr("compiler.quantization.rounding.MOST_COLUMNS", 20)
    monkeypatch.setattr("compiler.quantization.rounding.BLOCK", 7)
    (moments,) = collect_moments(graph, samples).values()
    assert [piece.shape for piece in moments.second] == [(1, 18, 18)] * 4
    nearest = improve_weights(graph, samples, "nearest")
    adaptive = improve_weights(graph, samples, "adaptive")
    errors = [np.square(output_error(graph, each, others)).mean() for each in (nearest, adaptive)]
    assert errors[1] < errors[0]


def test_dead_inputs_and_dead_channels() -> None:
    net = Network((1, 4, 4, 4))
    weight = np.random.default_rng(0).normal(size=(3, 1, 1, 4))
    weight[1] = 0
    graph = net.graph([net.add("conv2d", "x", net.value(weight))])
    samples = [{"x": np.zeros((1, 4, 4, 4), np.float32)} for _ in range(2)]
    prepared = improve_weights(graph, samples, "adaptive")
    assert sqnr_db(graph, prepared, net.samples(4)) > 30
