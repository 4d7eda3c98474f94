"""Equalization changes no output, and lets int8 follow networks whose channels differ widely."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.graph import Graph
from compiler.invariants import check_graph
from compiler.quantization import calibrate, quantize_int8
from compiler.quantization.equalize import equalize, find_links
from tests.quantization.networks import Network, sqnr_db

RELU = (0.0, np.inf)


def uneven(net: Network, kind: str, clamp: tuple[float, float] = RELU) -> Graph:
    """Two layers, the channels between them spread over a factor of 1000 that cancels out."""
    spread = np.logspace(-1.5, 1.5, 8)
    first = net.random.normal(size=(8, 1, 1, 4)) * spread.reshape(-1, 1, 1, 1)
    y = net.add("conv2d", "x", net.value(first), net.value(spread * 0.1), clamp=clamp)
    if kind == "depthwise_conv2d":
        second = net.random.normal(size=(1, 3, 3, 8)) / spread
        return net.graph([net.add(kind, y, net.value(second))])
    if kind == "fully_connected":
        second = net.random.normal(size=(5, 8)) / spread
        y = net.add("reshape", y, shape=(16, 8))
        return net.graph([net.add(kind, y, net.value(second))])
    second = net.random.normal(size=(6, 3, 3, 8 if kind == "conv2d" else 4))
    groups = 1 if kind == "conv2d" else 2
    parts = spread.reshape(groups, -1).repeat(6 // groups, axis=0).reshape(6, 1, 1, -1)
    return net.graph([net.add("conv2d", y, net.value(second / parts), groups=groups)])


@pytest.mark.parametrize("kind", ["conv2d", "grouped", "depthwise_conv2d"])
def test_uneven_channels(kind: str) -> None:
    net = Network((1, 6, 6, 4))
    graph = uneven(net, kind)
    samples, others = net.samples(16), net.samples(8)
    equal = equalize(graph, samples)
    check_graph(equal)
    assert sqnr_db(graph, equal, others) > 100
    before, after = (
        sqnr_db(graph, quantize_int8(each, calibrate(each, samples, "minmax")), others)
        for each in (graph, equal)
    )
    assert after > before + 6


@pytest.mark.parametrize("clamp", [(0.0, 6.0), (-1.0, np.inf)])
def test_a_clamp_that_is_not_homogeneous_stops_it(clamp: tuple[float, float]) -> None:
    net = Network((1, 6, 6, 4))
    assert find_links(uneven(net, "conv2d", clamp)) == []


def test_what_others_read_stays() -> None:
    net = Network((1, 6, 6, 4))
    graph = uneven(net, "conv2d")
    between = graph.ops[0].outputs[0]
    assert len(find_links(graph)) == 1
    assert find_links(graph.replace(outputs=(*graph.outputs, between))) == []


def test_pooling_may_stand_between() -> None:
    net = Network((1, 8, 8, 4))
    y = net.add("conv2d", "x", net.constant(6, 1, 1, 4), clamp=RELU)
    y = net.add("max_pool2d", y, kernel=(2, 2), stride=(2, 2), padding=(0, 0, 0, 0))
    graph = net.graph([net.add("conv2d", y, net.constant(5, 1, 1, 6))])
    equal = equalize(graph, net.samples(8))
    assert equal is not graph
    assert sqnr_db(graph, equal, net.samples(4)) > 100
