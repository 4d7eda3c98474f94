"""IF and WHILE of ``.tflite`` files against LiteRT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compiler.errors import UnsupportedError
from compiler.passes import CANONICAL, run_passes
from tests.support.graphs import kinds
from tests.support.tflite_builder import Builder
from tests.support.tflite_check import assert_same_as_litert, read


def branch(builder: Builder, kind: str, dtype: str = "float32", **scale: float) -> object:
    """x -> kind(x), as another subgraph."""
    other = builder.further()
    x = other.tensor("x", (2, 3), dtype, **scale)
    y = other.tensor("y", (2, 3), dtype, **scale)
    other.op(kind, [x], [y])
    return other.subgraph([x], [y])


def if_model(condition: bool | None, dtype: str = "float32", **scale: float) -> bytes:
    """``condition``: None is an input of the model."""
    b = Builder()
    data = None if condition is None else np.array(condition)
    c = b.tensor("c", (), "bool", data=data)
    x = b.tensor("x", (2, 3), dtype, **scale)
    y = b.tensor("y", (2, 3), dtype, **scale)
    b.op("IF", [c, x], [y], "IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=2)
    sides = [branch(b, kind, dtype, **scale) for kind in ("RELU", "RELU6" if scale else "ABS")]
    return b.build([x] if data is not None else [c, x], [y], *sides)


@pytest.mark.parametrize("condition", [True, False])
def test_known_condition(condition: bool) -> None:
    graph = assert_same_as_litert(if_model(condition))
    assert kinds(run_passes(graph, CANONICAL)) == ["clamp" if condition else "abs"]


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
def test_condition_of_the_run(dtype: str) -> None:
    scale = {} if dtype == "float32" else {"scale": 0.5, "zero_point": 3}
    graph = assert_same_as_litert(if_model(None, dtype, **scale), runs=6)
    assert "select" in kinds(graph)


def while_model(times: int | None, nested: bool = False) -> bytes:
    """x doubled ``times`` times, or as often as an input says."""
    b = Builder()
    data = None if times is None else np.array(times)
    i = b.tensor("i", (), "int32", data=data)
    x = b.tensor("x", (2, 3), "float32")
    last, y = b.tensor("last", (), "int32"), b.tensor("y", (2, 3), "float32")
    b.op("WHILE", [i, x], [last, y], "WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2)

    def start(other: Builder) -> tuple[int, int]:
        return other.tensor("i", (), "int32"), other.tensor("x", (2, 3), "float32")

    condition = b.further()
    n, value = start(condition)
    zero = condition.tensor("zero", (), "int32", data=np.array(0))
    goes_on = condition.tensor("goes_on", (), "bool")
    condition.op("GREATER", [n, zero], [goes_on], "GreaterOptions")
    body = b.further()
    m, before = start(body)
    one = body.tensor("one", (), "int32", data=np.array(1))
    less, after = body.tensor("less", (), "int32"), body.tensor("after", (2, 3), "float32")
    body.op("SUB", [m, one], [less], "SubOptions")
    if nested:
        odd = body.tensor("odd", (), "bool")
        body.op("EQUAL", [m, one], [odd], "EqualOptions")
        body.op("IF", [odd, before], [after], "IfOptions", thenSubgraphIndex=3, elseSubgraphIndex=4)
    else:
        body.op("ADD", [before, before], [after], "AddOptions")
    subgraphs = [
        condition.subgraph([n, value], [goes_on]),
        body.subgraph([m, before], [less, after]),
    ]
    subgraphs += [branch(b, kind) for kind in ("ABS", "NEG")] if nested else []
    return b.build([x] if data is not None else [i, x], [y], *subgraphs)


@pytest.mark.parametrize("times", [0, 1, 5])
def test_known_number_of_repetitions(times: int) -> None:
    graph = assert_same_as_litert(while_model(times))
    assert kinds(run_passes(graph, CANONICAL)).count("add") == times


def test_nested() -> None:
    graph = assert_same_as_litert(while_model(3, nested=True))
    assert kinds(run_passes(graph, CANONICAL))[-3:] == ["neg", "neg", "abs"]


def test_repetitions_of_the_run_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"WHILE 'last' .*only known in the run"):
        read(while_model(None))


def test_endless_loops_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="more than 20000 operators"):
        read(while_model(10**9))


def test_a_subgraph_that_runs_itself_is_refused(tmp_path: Path) -> None:
    b = Builder()
    x, y = b.tensor("x", (2, 3), "float32"), b.tensor("y", (2, 3), "float32")
    c = b.tensor("c", (), "bool", data=np.array(True))
    b.op("IF", [c, x], [y], "IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=1)
    other = b.further()
    p, q = other.tensor("p", (2, 3), "float32"), other.tensor("q", (2, 3), "float32")
    d = other.tensor("d", (), "bool", data=np.array(True))
    other.op("IF", [d, p], [q], "IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=1)
    with pytest.raises(UnsupportedError, match="subgraphs that run each other"):
        read(b.build([x], [y], other.subgraph([p], [q])))
