"""Reads a small ``.tflite`` file and compares the graph's results with LiteRT's."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from compiler.graph import Graph, Tensor
from compiler.importers.tflite import read_tflite
from compiler.invariants import check_graph
from compiler.passes import CANONICAL, run_passes
from compiler.simulator import Simulator
from tests.support.tflite_builder import run_litert

FLOAT_TOLERANCE = 1e-5


def random_array(tensor: Tensor, random: np.random.Generator) -> np.ndarray:
    """Every integer of the type, or floats between -2 and 2."""
    if tensor.dtype == "float32":
        return random.uniform(-2, 2, tensor.shape).astype(np.float32)
    if tensor.dtype == "bool":
        return random.integers(0, 2, tensor.shape).astype(bool)
    small = tensor.quant is None
    info = np.iinfo(tensor.dtype)
    low, high = (-20, 20) if small else (info.min, info.max + 1)
    return random.integers(low, high, tensor.shape).astype(tensor.dtype)


def read(data: bytes, shapes: dict[str, tuple[int, ...]] | None = None) -> Graph:
    """The graph of a file's bytes, checked."""
    graph = read_tflite(data, Path("model.tflite"), shapes or {})
    check_graph(graph)
    return graph


def assert_same_as_litert(data: bytes, runs: int = 3, tolerance: float = FLOAT_TOLERANCE) -> Graph:
    """Integers are equal, floats within ``tolerance``; canonical or not. Returns the graph."""
    graph = read(data)
    canonical = run_passes(graph, CANONICAL)
    check_graph(canonical)
    random = np.random.default_rng(1)
    for _ in range(runs):
        inputs = {name: random_array(graph.tensors[name], random) for name in graph.inputs}
        expected = run_litert(data, inputs)
        for form in (graph, canonical):
            results = Simulator(form).run(inputs)
            for name, wanted in zip(form.outputs, expected, strict=True):
                assert_equal(results[name], wanted, tolerance)
    return graph


def assert_equal(found: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    """Same dtype and shape; integers to the bit, floats relative to the largest value."""
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if wanted.dtype.kind == "f":
        largest = max(float(np.abs(wanted).max(initial=0)), 1.0)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * largest)
    else:
        np.testing.assert_array_equal(found, wanted)
