"""The float meaning of quantized graphs, and ratios."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.accuracy.metrics import are_classes, sqnr_db, top_share
from compiler.accuracy.real import is_quantized, real_graph
from compiler.invariants import check_graph
from compiler.simulator import Simulator
from tests.quantization.networks import Network, quantized


def test_a_quantized_graph_means_nearly_what_it_was_made_from() -> None:
    net = Network((1, 6, 6, 4))
    weight, bias = net.constant(5, 3, 3, 4), net.constant(5)
    y = net.add("conv2d", "x", weight, bias, stride=(1, 1), padding=(0, 0, 0, 0),
                dilation=(1, 1), groups=1, clamp=(0.0, np.inf))  # fmt: skip
    y = net.add("reshape", y, shape=(1, 80))
    graph = net.graph([net.add("softmax", y, axis=1)])
    int8 = quantized(graph, net.samples(), "minmax")
    real = real_graph(int8)
    check_graph(real)
    assert is_quantized(int8) and not is_quantized(real)
    assert not {"quantize", "dequantize", "requantize"} & {op.kind for op in real.ops}
    (sample,) = net.samples(1)
    wanted, found = Simulator(graph).run(sample), Simulator(real).run(sample)
    for name in graph.outputs:  # only the weights were rounded
        np.testing.assert_allclose(found[name], wanted[name], atol=0.03)


def test_ratios() -> None:
    assert sqnr_db(100.0, 1.0) == pytest.approx(20)
    assert sqnr_db(1.0, 0.0) == 200 and sqnr_db(0.0, 1.0) == -200


def test_top_share_takes_equal_scores_by_index() -> None:
    scores = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    assert top_share(scores, np.array([1, 1]), 1) == 0.5
    assert top_share(scores, np.array([1, 2]), 2) == 1.0


def test_labels_that_are_no_classes() -> None:
    assert are_classes(np.array([0, 2]), 3)
    assert not are_classes(np.array([0, 3]), 3)
    assert not are_classes(np.array([0.5]), 3)
