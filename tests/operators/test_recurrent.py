"""Recurrent layers over several runs, states kept, against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import fixed_point_16
from compiler.graph import Graph
from compiler.importers import read_model
from compiler.invariants import check_graph
from compiler.options import BuildOptions
from compiler.pipeline import lower_model
from compiler.simulator import Simulator
from tests.support.tflite_builder import Builder

RUNS = 3
TANH = 4  # ActivationFunctionType


def litert_runs(data: bytes, series: np.ndarray) -> list[np.ndarray]:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF
    )
    interpreter.allocate_tensors()
    results = []
    for x in series:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return results


def compare(data: bytes, series: np.ndarray, folder: Path) -> Graph:
    """Over all runs, and again after a reset; integers to the bit, floats within 1e-5."""
    path = folder / "model.tflite"
    path.write_bytes(data)
    graph = lower_model(path, BuildOptions())
    wanted = litert_runs(data, series)
    assert len({value.tobytes() for value in wanted}) > 1, "the outputs do not depend on states"
    for form in (read_model(path), graph):
        check_graph(form)
        simulator = Simulator(form)
        for _ in range(2):
            for x, expected in zip(series, wanted, strict=True):
                found = simulator.run({form.inputs[0]: x})[form.outputs[0]]
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                if expected.dtype.kind == "f":
                    np.testing.assert_allclose(found, expected, atol=1e-5, rtol=0)
                else:
                    np.testing.assert_array_equal(found, expected)
            simulator.reset()
    return graph


def same_input(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """The same input in every run, so that outputs differ by the states alone."""
    if dtype == "float32":
        x = rng.normal(0, 1, shape).astype(dtype)
    else:
        x = rng.integers(-128, 128, shape).astype(dtype)
    return np.stack([x] * RUNS)


def svdf_model(rng: np.random.Generator, dtype: str, *, bias: bool, activation: int) -> bytes:
    batch, features, units, rank, memory = (int(n) for n in rng.integers(1, 6, 5))
    memory += 1
    filters = units * rank
    b = Builder()
    is_float = dtype == "float32"

    def constant(name: str, shape: tuple[int, ...], kind: str, scale: float) -> int:
        if is_float:
            return b.tensor(name, shape, "float32", data=rng.normal(0, 0.5, shape))
        top = 127 if kind == "int8" else 2000
        data = rng.integers(-top, top + 1, shape)
        return b.tensor(name, shape, kind, scale=scale, data=data)

    quantized: dict[str, Any] = {} if is_float else {"scale": 0.0312, "zero_point": 5}
    x = b.tensor("x", (batch, features), dtype, **quantized)
    wf = constant("wf", (filters, features), "int8", 0.0123)
    wt = constant("wt", (filters, memory), "int16", 0.0007)
    biases = constant("bias", (units,), "int32", 0.0004 * 0.0007) if bias else -1
    state_scale: dict[str, Any] = {} if is_float else {"scale": 0.0004}
    state = b.tensor("s", (batch, filters * memory), "float32" if is_float else "int16",
                     is_variable=True, **state_scale)  # fmt: skip
    result: dict[str, Any] = {} if is_float else {"scale": 0.0431, "zero_point": -7}
    y = b.tensor("y", (batch, units), dtype, **result)
    b.op("SVDF", [x, wf, wt, biases, state], [y], "SVDFOptions", 3 if not is_float else 1,
         rank=rank, fusedActivationFunction=activation)  # fmt: skip
    return b.build([x], [y])


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("bias", [True, False])
def test_svdf(dtype: str, bias: bool, tmp_path: Path) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        data = svdf_model(rng, dtype, bias=bias, activation=1 if dtype == "int8" else seed % 2)
        (tmp_path / "model.tflite").write_bytes(data)
        shape = read_model(tmp_path / "model.tflite").tensors["x"].shape
        compare(data, same_input(rng, shape, dtype), tmp_path)


def lstm_model(
    rng: np.random.Generator, dtype: str, **extras: Any
) -> tuple[bytes, tuple[int, ...]]:
    """``extras``: cifg, peepholes, norms, projection, cell_clip, proj_clip, time_major."""
    batch, time, features, cells = (int(n) for n in rng.integers(1, 7, 4))
    cells += 8 if extras.get("norms") else 0  # of few, the deviation may be next to nothing
    outputs = 3 if extras.get("projection") else cells
    b = Builder()
    is_float = dtype == "float32"
    input_scale, hidden_scale, bias_scale = 0.0213, 0.0078125, 1e-4

    def constant(name: str, *shape: int) -> int:
        if is_float:
            return b.tensor(name, shape, "float32", data=rng.normal(0, 0.7, shape))
        if len(shape) == 1:
            data = rng.integers(-3000, 3000, shape)
            return b.tensor(name, shape, "int32", scale=bias_scale, data=data)
        data = rng.integers(-127, 128, shape)
        return b.tensor(name, shape, "int8", scale=float(rng.uniform(0.002, 0.02)), data=data)

    def gates(name: str, *shape: int, present: bool = True, count: int = 4) -> list[int]:
        skipped = 1 if extras.get("cifg") else 0
        return [
            constant(f"{name}{i}", *shape) if present and i >= skipped else -1 for i in range(count)
        ]

    quantized: dict[str, Any] = {} if is_float else {"scale": input_scale, "zero_point": -11}
    hidden: dict[str, Any] = {} if is_float else {"scale": hidden_scale, "zero_point": 3}
    cell: dict[str, Any] = {} if is_float else {"scale": 2.0 ** -int(rng.integers(10, 14))}
    shape = (time, batch) if extras.get("time_major") else (batch, time)
    x = b.tensor("x", (*shape, features), dtype, **quantized)
    inputs = [x, *gates("w", cells, features), *gates("r", cells, outputs)]
    inputs += gates("p", cells, present=extras.get("peepholes", False), count=3)
    inputs += gates("b", cells)
    projection = extras.get("projection", False)
    inputs += [constant("proj", outputs, cells) if projection else -1,
               constant("projb", outputs) if projection else -1]  # fmt: skip
    inputs += [
        b.tensor("h", (batch, outputs), dtype, is_variable=True, **hidden),
        b.tensor("c", (batch, cells), "float32" if is_float else "int16", is_variable=True, **cell),
    ]
    inputs += gates("n", cells, present=extras.get("norms", False))
    y = b.tensor("y", (*shape, outputs), dtype, **hidden)
    inner = []
    if not is_float:
        inner = [b.tensor(f"i{i}", (0,), "int16", scale=2.0**-12) for i in range(4)]
        inner.append(b.tensor("i4", (0,), "int8", **hidden))
    b.op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], "UnidirectionalSequenceLSTMOptions", 3,
         inner, fusedActivationFunction=TANH, timeMajor=extras.get("time_major", False),
         cellClip=extras.get("cell_clip", 0.0), projClip=extras.get("proj_clip", 0.0))  # fmt: skip
    return b.build([x], [y]), (*shape, features)


LSTMS: list[dict[str, Any]] = [
    {}, {"cifg": True}, {"time_major": True}, {"cell_clip": 0.4}, {"peepholes": True},
    {"projection": True, "proj_clip": 0.3}, {"norms": True}, {"norms": True, "cifg": True},
    {"cifg": True, "peepholes": True, "projection": True, "time_major": True},
]  # fmt: skip


@pytest.mark.parametrize("extras", LSTMS, ids=lambda e: "-".join(e) or "plain")
def test_float_lstm(extras: dict[str, Any], tmp_path: Path) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        data, shape = lstm_model(rng, "float32", **extras)
        compare(data, same_input(rng, shape, "float32"), tmp_path)


@pytest.mark.parametrize("extras", LSTMS[:4], ids=lambda e: "-".join(e) or "plain")
def test_int8_lstm(extras: dict[str, Any], tmp_path: Path) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        data, shape = lstm_model(rng, "int8", **extras)
        compare(data, same_input(rng, shape, "int8"), tmp_path)


def rnn_model(
    rng: np.random.Generator, kind: str, activation: int
) -> tuple[bytes, tuple[int, ...]]:
    """``kind``: a name of the schema, or "time major"."""
    b = Builder()
    shape = (2, 5) if kind == "RNN" else (2, 3, 5)
    batch = 3 if kind == "time major" else 2
    x = b.tensor("x", shape, "float32")
    weights = [
        b.tensor(f"w{i}", size, "float32", data=rng.normal(0, 0.4, size))
        for i, size in enumerate(((4, 5), (4, 4), (4,)))
    ]
    state = b.tensor("s", (batch, 4), "float32", is_variable=True)
    y = b.tensor("y", (*shape[:-1], 4), "float32")
    if kind == "RNN":
        b.op("RNN", [x, *weights, state], [y], "RNNOptions", fusedActivationFunction=activation)
    else:
        b.op("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *weights, state], [y], "SequenceRNNOptions",
             fusedActivationFunction=activation, timeMajor=kind == "time major")  # fmt: skip
    return b.build([x], [y]), shape


@pytest.mark.parametrize("activation", [0, 1, TANH])
@pytest.mark.parametrize("kind", ["UNIDIRECTIONAL_SEQUENCE_RNN", "time major", "RNN"])
def test_rnn(kind: str, activation: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(activation)
    data, shape = rnn_model(rng, kind, activation)
    compare(data, same_input(rng, shape, "float32"), tmp_path)


def test_fixed_point_functions_are_what_they_are_called() -> None:
    a = np.arange(-32768, 32768, 7, dtype=np.int64)
    real = a / 2.0**12
    np.testing.assert_allclose(
        fixed_point_16.logistic(a) / 2.0**15, 1 / (1 + np.exp(-real)), atol=3e-4
    )
    for bits in range(7):
        real = a / 2.0 ** (15 - bits)
        np.testing.assert_allclose(fixed_point_16.tanh(a, bits) / 2.0**15, np.tanh(real), atol=1e-3)


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("merge", [False, True])
def test_bidirectional_lstm(merge: bool, time_major: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    # LiteRT takes the second batch's state from the wrong place where it merges batch-major.
    batch = 1 if merge and not time_major else 2
    time, features, cells = 4, 3, 5
    b = Builder()
    shape = (time, batch) if time_major else (batch, time)
    x = b.tensor("x", (*shape, features), "float32")

    def constants(*size: int) -> list[int]:
        return [
            b.tensor(f"k{len(b.tensors)}", size, "float32", data=rng.normal(0, 0.6, size))
            for _ in range(4)
        ]

    inputs = [x]
    for _ in range(2):
        inputs += [*constants(cells, features), *constants(cells, cells), -1, -1, -1]
        inputs += [*constants(cells), -1, -1]
    inputs += [b.tensor(f"s{i}", (batch, cells), "float32", is_variable=True) for i in range(4)]
    inputs += [-1] * 9
    widths = [2 * cells] if merge else [cells, cells]
    outputs = [b.tensor(f"y{i}", (*shape, n), "float32") for i, n in enumerate(widths)]
    b.op("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, "BidirectionalSequenceLSTMOptions",
         fusedActivationFunction=TANH, mergeOutputs=merge, timeMajor=time_major)  # fmt: skip
    data = b.build([x], outputs)
    compare(data, same_input(rng, (*shape, features), "float32"), tmp_path)
