"""The simulator: inputs checked, state kept between runs, every tensor shown."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.errors import ModelError
from compiler.graph import Graph, Op, Tensor
from compiler.operators.elementwise import ArithmeticParams, UnaryParams
from compiler.operators.movement import SplitParams
from compiler.simulator import Simulator
from tests.support.graphs import Sketch


def counter() -> Graph:
    """y = x + s, and s becomes y."""
    sketch = Sketch()
    x = sketch.input("x", (2,))
    initial = np.array([10, 20], np.float32)
    sketch.tensors["s"] = Tensor("s", (2,), "float32", data=initial, is_state=True)
    sketch.op("add", [x, "s"], "y", ArithmeticParams())
    sketch.ops.append(Op("add", "s", ("x", "s"), ("s",), ArithmeticParams()))
    return sketch.graph(["y"])


def test_state_persists_until_reset() -> None:
    simulator = Simulator(counter())
    x = {"x": np.ones(2, np.float32)}
    runs = [simulator.run(x)["y"].tolist() for _ in range(3)]
    assert runs == [[11, 21], [12, 22], [13, 23]]
    simulator.reset()
    assert simulator.run(x)["y"].tolist() == [11, 21]
    assert counter().tensors["s"].data is not None


def test_state_without_initial_value_is_zero() -> None:
    graph = counter()
    state = Tensor("s", (2,), "float32", is_state=True)
    simulator = Simulator(graph.replace(tensors={**graph.tensors, "s": state}))
    assert simulator.run({"x": np.ones(2, np.float32)})["y"].tolist() == [1, 1]


def test_outputs_of_several_and_an_observer() -> None:
    sketch = Sketch()
    x = sketch.input("x", (4,))
    square = sketch.op("square", [x], "square", UnaryParams())
    for name in ("low", "high"):
        sketch.tensors[name] = Tensor(name, (2,), "float32")
    sketch.ops.append(Op("split", "split", (square,), ("low", "high"), SplitParams(0, (2, 2))))
    seen: dict[str, list[float]] = {}
    result = Simulator(sketch.graph(["high", "low"])).run(
        {"x": np.arange(4, dtype=np.float32)},
        lambda name, value: seen.update({name: value.tolist()}),
    )
    assert list(result) == ["high", "low"]
    assert result["high"].tolist() == [4, 9]
    assert seen == {"square": [0, 1, 4, 9], "low": [0, 1], "high": [4, 9]}


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "input 'x' is missing"),
        ({"x": np.ones(3, np.float32)}, "tensor 'x': given as float32[3]"),
        ({"x": np.ones(2, np.float64)}, "tensor 'x': given as float64[2]"),
    ],
)
def test_wrong_inputs_are_refused(inputs: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ModelError, match=message.replace("[", r"\[")):
        Simulator(counter()).run(inputs)


def test_a_result_that_is_not_what_its_tensor_says() -> None:
    graph = counter()
    wrong = Tensor("y", (3,), "float32")
    with pytest.raises(ModelError, match="tensor 'y'"):
        Simulator(graph.replace(tensors={**graph.tensors, "y": wrong})).run(
            {"x": np.ones(2, np.float32)}
        )
