"""Variables of ``.tflite`` files: state kept over a series of runs, as LiteRT keeps it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from compiler import api
from compiler.errors import KilnError, ModelError, UnsupportedError
from compiler.importers import read_model
from compiler.invariants import check_graph
from compiler.options import BuildOptions
from compiler.pipeline import lower_model
from compiler.simulator import Simulator
from tests.support.tflite_builder import Builder, Variables
from tests.support.zoo_models import zoo_model

RUNS = 5
Network = Callable[[Builder, Variables], Sequence[int]]


def delay(b: Builder, v: Variables) -> Sequence[int]:
    """The output is the state, which becomes the input."""
    x = b.tensor("x", (1, 4), "float32")
    old = v.read("a", b.tensor("old", (1, 4), "float32"))
    y = b.tensor("y", (1, 4), "float32")
    b.op("ABS", [old], [y])
    v.assign("a", x)
    return [y]


def output_is_the_old_value(b: Builder, v: Variables) -> Sequence[int]:
    x = b.tensor("x", (1, 4), "float32")
    old = v.read("a", b.tensor("old", (1, 4), "float32"))
    total = b.tensor("total", (1, 4), "float32")
    b.op("ADD", [x, old], [total], "AddOptions")
    v.assign("a", total)
    return [old, total]


def output_is_the_new_value(b: Builder, v: Variables) -> Sequence[int]:
    x = b.tensor("x", (1, 4), "float32")
    v.assign("a", x)
    new = v.read("a", b.tensor("new", (1, 4), "float32"))
    y = b.tensor("y", (1, 4), "float32")
    b.op("NEG", [new], [y])
    return [new, y]


def assigned_twice(b: Builder, v: Variables) -> Sequence[int]:
    """Reads before, between and after the assignments differ."""
    x = b.tensor("x", (1, 4), "float32")
    reads, last = [], x
    for i in range(3):
        value = v.read("a", b.tensor(f"read{i}", (1, 4), "float32"))
        result = b.tensor(f"abs{i}", (1, 4), "float32")
        b.op("ABS", [value], [result])
        reads.append(result)
        last = b.tensor(f"sum{i}", (1, 4), "float32")
        b.op("ADD", [value, x], [last], "AddOptions")
        v.assign("a", last)
    return reads


def swap(b: Builder, v: Variables) -> Sequence[int]:
    """Two variables exchange their values; neither goes through an operator."""
    x = b.tensor("x", (1, 4), "float32")
    a = v.read("a", b.tensor("a", (1, 4), "float32"))
    c = v.read("c", b.tensor("c", (1, 4), "float32"))
    v.assign("a", c)
    v.assign("c", a)
    y = b.tensor("y", (1, 4), "float32")
    b.op("SUB", [a, x], [y], "SubOptions")
    z = b.tensor("z", (1, 4), "float32")
    b.op("ADD", [y, c], [z], "AddOptions")
    return [y, z]


def ring(b: Builder, v: Variables) -> Sequence[int]:
    """The state is slices of a concat of itself and the input; all of them are outputs too."""
    x = b.tensor("x", (1, 4), "float32")
    old = v.read("a", b.tensor("old", (1, 8), "float32"))
    whole = b.tensor("whole", (1, 12), "float32")
    b.op("CONCATENATION", [old, x], [whole], "ConcatenationOptions", axis=1)
    begin = b.tensor("begin", (2,), "int32", data=np.array([0, 4]))
    size = b.tensor("size", (2,), "int32", data=np.array([1, 8]))
    tail = b.tensor("tail", (1, 8), "float32")
    b.op("SLICE", [whole, begin, size], [tail], "SliceOptions")
    v.assign("a", tail)
    early = b.tensor("early", (1, 8), "float32")
    zero = b.tensor("zero", (2,), "int32", data=np.array([0, 0]))
    b.op("SLICE", [old, zero, size], [early], "SliceOptions")
    y = b.tensor("y", (1, 8), "float32")
    b.op("MUL", [early, tail], [y], "MulOptions")
    return [y, tail]


def parts_of_the_state(b: Builder, v: Variables) -> Sequence[int]:
    """Views, splits and an in-place chain on the old value, after the new one is known."""
    x = b.tensor("x", (1, 4), "float32")
    old = v.read("a", b.tensor("old", (1, 4), "float32"))
    new = b.tensor("new", (1, 4), "float32")
    b.op("ADD", [old, x], [new], "AddOptions")
    v.assign("a", new)
    flat = b.tensor("flat", (4,), "float32")
    shape = b.tensor("shape", (1,), "int32", data=np.array([4]))
    b.op("RESHAPE", [old, shape], [flat])
    axis = b.tensor("axis", (), "int32", data=np.array(0))
    halves = [b.tensor(f"half{i}", (2,), "float32") for i in range(2)]
    b.op("SPLIT", [axis, flat], halves, "SplitOptions", numSplits=2)
    y = b.tensor("y", (2,), "float32")
    b.op("SUB", halves, [y], "SubOptions")
    z = b.tensor("z", (2,), "float32")
    b.op("ABS", [y], [z])
    return [z, new]


def never_assigned(b: Builder, v: Variables) -> Sequence[int]:
    x = b.tensor("x", (1, 4), "float32")
    old = v.read("a", b.tensor("old", (1, 4), "float32"))
    y = b.tensor("y", (1, 4), "float32")
    b.op("ADD", [x, old], [y], "AddOptions")
    return [y]


NETWORKS: list[Network] = [
    delay, output_is_the_old_value, output_is_the_new_value, assigned_twice, swap, ring,
    parts_of_the_state, never_assigned,
]  # fmt: skip
INITIAL = {"a": np.array([[1, -2, 3, -4]]), "c": np.array([[10, 20, 30, 40]])}


def model_of(network: Network) -> bytes:
    builder = Builder()
    variables = Variables(builder)
    outputs = network(builder, variables)
    wide = network is ring
    initial = {
        name: np.tile(value, 2) if wide else value
        for name, value in INITIAL.items()
        if name in variables.handles
    }
    names = [tensor.name for tensor in builder.tensors]
    return builder.build([names.index("x")], outputs, variables.initialiser(initial))


def litert_series(data: bytes, series: np.ndarray) -> list[list[np.ndarray]]:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(
        model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF
    )
    interpreter.allocate_tensors()
    results = []
    for x in series:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        details = interpreter.get_output_details()
        results.append([interpreter.get_tensor(d["index"]).copy() for d in details])
    return results


@pytest.mark.parametrize("network", NETWORKS)
def test_state_is_kept_as_litert_keeps_it(network: Network, tmp_path: Path) -> None:
    data = model_of(network)
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    series = np.random.default_rng(1).integers(-9, 9, (RUNS, 1, 4)).astype(np.float32)
    wanted = litert_series(data, series)
    for graph in (read_model(path), lower_model(path, BuildOptions())):
        check_graph(graph)
        simulator = Simulator(graph)
        for _ in range(2):
            for x, expected in zip(series, wanted, strict=True):
                found = simulator.run({"x": x})
                for name, value in zip(graph.outputs, expected, strict=True):
                    np.testing.assert_array_equal(found[name], value)
            simulator.reset()


QUICK = (assigned_twice, ring)
SLOW = [pytest.param(n, marks=pytest.mark.slow) for n in NETWORKS if n not in QUICK]


@pytest.mark.parametrize("network", [*QUICK, *SLOW])
def test_on_the_host_board(network: Network, tmp_path: Path) -> None:
    data = model_of(network)
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    series = np.random.default_rng(2).integers(-9, 9, (RUNS, 1, 4)).astype(np.float32)
    built = api.build(path, board="host", out=tmp_path / "build")
    wanted = litert_series(data, series)
    with api.connect(board="host", out=tmp_path / "build") as session:
        for _ in range(2):
            for x, expected in zip(series, wanted, strict=True):
                found = session.run({"x": x})
                for tensor, value in zip(built.outputs, expected, strict=True):
                    np.testing.assert_array_equal(found[tensor.name], value)
            session.reset_state()


WAKE_WORDS = ("wake_okay_nabu_stream_int8.tflite", "wake_hey_jarvis_stream_int8.tflite")


@pytest.mark.parametrize("name", WAKE_WORDS)
def test_wake_word_series(name: str) -> None:
    """Every tensor that LiteRT has, in 30 runs with state kept."""
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    path = zoo_model(name)
    graph = lower_model(path, BuildOptions())
    assert {t.name for t in graph.tensors.values() if t.is_state}
    judge = litert.Interpreter(
        str(path),
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    judge.allocate_tensors()
    index = {d["name"]: d["index"] for d in judge.get_tensor_details()}
    simulator, compared = Simulator(graph), 0
    random = np.random.default_rng(3)
    for _ in range(30):
        x = random.integers(-128, 128, graph.tensors[graph.inputs[0]].shape).astype(np.int8)
        judge.set_tensor(judge.get_input_details()[0]["index"], x)
        judge.invoke()
        seen: dict[str, np.ndarray] = {}
        simulator.run({graph.inputs[0]: x}, seen.__setitem__)
        for tensor, value in seen.items():
            if tensor in index and not graph.tensors[tensor].is_state:
                np.testing.assert_array_equal(value, judge.get_tensor(index[tensor]), tensor)
                compared += value.size
    assert compared > 30_000


@pytest.mark.parametrize(
    ("name", "board"),
    [
        (WAKE_WORDS[0], "mps2-an386"),
        (WAKE_WORDS[1], "host"),
        pytest.param(WAKE_WORDS[0], "host", marks=pytest.mark.slow),
        pytest.param(WAKE_WORDS[1], "mps2-an386", marks=pytest.mark.slow),
    ],
)
def test_wake_word_on_board(name: str, board: str, tmp_path: Path) -> None:
    """A second ``run`` starts from the initial state again."""
    if board == "mps2-an386" and shutil.which("qemu-system-arm") is None:
        pytest.skip("board mps2-an386 needs qemu-system-arm")
    path = zoo_model(name)
    built = api.build(path, board=board, out=tmp_path)
    assert built.manifest["state_bytes"] > 0
    series = np.random.default_rng(4).integers(-128, 128, (25, *built.inputs[0].shape))
    inputs = {built.inputs[0].name: series.astype(np.int8)}
    simulated = api.simulate(path, inputs).outputs
    for _ in range(2):
        found = api.run(inputs, board=board, out=tmp_path).outputs
        for key, value in simulated.items():
            np.testing.assert_array_equal(found[key], value)


def refusal(data: bytes, tmp_path: Path) -> KilnError:
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    with pytest.raises(KilnError) as caught:
        read_model(path)
    return caught.value


def test_wrong_uses_are_refused(tmp_path: Path) -> None:
    builder = Builder()
    x = builder.tensor("x", (1, 4), "float32")
    y = builder.tensor("y", (1, 4), "float32")
    builder.op("READ_VARIABLE", [x], [y])
    error = refusal(builder.build([x], [y]), tmp_path)
    assert isinstance(error, UnsupportedError) and "not made by VAR_HANDLE" in str(error)

    builder = Builder()
    x = builder.tensor("x", (1, 4), "float32")
    builder.op("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=7)
    y = builder.tensor("y", (1, 4), "float32")
    builder.op("ABS", [x], [y])
    error = refusal(builder.build([x], [y]), tmp_path)
    assert isinstance(error, ModelError) and "subgraph 7" in str(error)
