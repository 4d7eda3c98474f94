"""Random networks: the simulator gives what LiteRT gives, compiled kernels what it gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler import native
from compiler.graph import Graph
from compiler.loading import load_builtins
from compiler.passes import CANONICAL, FUSION, run_passes
from compiler.passes.io import convert_io
from compiler.plan import plan
from compiler.scheduler import make_schedule
from compiler.simulator import Simulator
from compiler.target import target_chain
from tests.support.random_tflite import random_network
from tests.support.tflite_builder import run_litert
from tests.support.tflite_check import assert_equal, random_array, read

load_builtins()

DTYPES = ("int8", "float32", "uint8")
TOLERANCE = 1e-4  # of an output's largest value
SEEDS = st.integers(0, 2**32 - 1)

few = settings(max_examples=12, deadline=None, derandomize=True)
many = settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def inputs_of(graph: Graph, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {name: random_array(graph.tensors[name], random) for name in graph.inputs}


def compare_with_litert(seed: int, dtype: str) -> None:
    """As read, canonical and fused."""
    data = random_network(seed, dtype)
    graph = read(data)
    inputs = inputs_of(graph, seed)
    wanted = run_litert(data, inputs)
    canonical = run_passes(graph, CANONICAL)
    for form in (graph, canonical, run_passes(canonical, FUSION)):
        found = Simulator(form).run(inputs)
        for name, value in zip(form.outputs, wanted, strict=True):
            assert_equal(found[name], value, TOLERANCE)


def compare_compiled(seed: int, dtype: str, numerics: str, io: str) -> None:
    """Kernels of this machine; for the other targets, that there is a plan (which is verified)."""
    graph = read(random_network(seed, dtype)).replace(numerics=numerics)
    graph = run_passes(convert_io(run_passes(graph, CANONICAL), io), FUSION)
    model = native.NativeModel(native.compile_graph(graph))
    for run in range(2):
        inputs = inputs_of(graph, seed + run)
        found, wanted = model.run(inputs), Simulator(graph).run(inputs)
        for name in graph.outputs:
            assert_equal(found[name], wanted[name], TOLERANCE)
    for target in ("cortex_m", "arm_neon"):
        plan(make_schedule(graph, target_chain(target)))


@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=SEEDS)
@few
def test_simulator_equals_litert(seed: int, dtype: str) -> None:
    compare_with_litert(seed, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=SEEDS)
@many
def test_simulator_equals_litert_often(seed: int, dtype: str) -> None:
    compare_with_litert(seed, dtype)


def without_optimization(patch: pytest.MonkeyPatch) -> None:
    """Compiling takes most of the time; what is compared is integers."""
    flags = tuple("-O1" if flag == "-O3" else flag for flag in native._FLAGS)
    patch.setattr(native, "_FLAGS", flags)


@pytest.mark.parametrize(
    ("seed", "dtype", "numerics", "io"),
    [(1, "int8", "tflite", "model"), (2, "int8", "fast", "float"), (3, "uint8", "fast", "int8"),
     (4, "float32", "tflite", "model")],
)  # fmt: skip
def test_kernels_equal_the_simulator(
    seed: int, dtype: str, numerics: str, io: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_optimization(monkeypatch)
    compare_compiled(seed, dtype, numerics, io)


@pytest.mark.slow
@given(
    seed=SEEDS, dtype=st.sampled_from(DTYPES), numerics=st.sampled_from(("tflite", "fast")),
    io=st.sampled_from(("model", "int8", "float")),
)  # fmt: skip
@many
def test_kernels_equal_the_simulator_often(seed: int, dtype: str, numerics: str, io: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        without_optimization(patch)
        compare_compiled(seed, dtype, numerics, io)


@pytest.mark.parametrize("kind", ["MUL", "ADD", "SUB", "MINIMUM", "SQUARED_DIFFERENCE"])
@pytest.mark.parametrize("numerics", ["tflite", "fast"])
def test_operators_of_scalars(kind: str, numerics: str) -> None:
    """A scalar stays one, whatever its scale is multiplied by."""
    from tests.support.tflite_builder import Builder

    b = Builder()
    x = b.tensor("x", (), "int8", scale=0.5, zero_point=3)
    y = b.tensor("y", (), "int8", scale=0.5, zero_point=3)
    b.op(kind, [x, x], [y], None, 2)
    data = b.build([x], [y])
    value = np.array(17, np.int8)
    (wanted,) = run_litert(data, {"x": value})
    found = Simulator(read(data).replace(numerics=numerics)).run({"x": value})["y"]
    assert found.shape == () and found == wanted
