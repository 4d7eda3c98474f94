"""Narrow types that no kernel takes are computed in wide ones."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.graph import Graph, Op, Tensor
from compiler.invariants import check_graph
from compiler.loading import load_builtins
from compiler.operators.elementwise import ArithmeticParams
from compiler.passes.constant_outputs import copy_constant_outputs
from compiler.passes.widen import widen
from compiler.simulator import Simulator

load_builtins()


def _chain(dtype: str) -> Graph:
    """y = (a + b) * c, c constant."""
    constant = np.array([2, 3, 5], dtype)
    tensors = [Tensor(name, (3,), dtype) for name in ("a", "b", "sum", "y")]
    tensors.append(Tensor("c", (3,), dtype, data=constant))
    ops = (
        Op("add", "sum", ("a", "b"), ("sum",), ArithmeticParams()),
        Op("mul", "y", ("sum", "c"), ("y",), ArithmeticParams()),
    )
    return Graph("chain", {t.name: t for t in tensors}, ops, ("a", "b"), ("y",))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_integers_wrap_as_before(dtype: str) -> None:
    graph = _chain(dtype)
    wide = widen(graph, ("reference",))
    check_graph(wide)
    arithmetic = [op for op in wide.ops if op.kind != "cast"]
    assert {wide.tensors[n].dtype for op in arithmetic for n in op.outputs} == {"int32"}
    limit = np.iinfo(dtype).max
    inputs = {"a": np.array([limit, 1, 7], dtype), "b": np.array([limit, 2, limit], dtype)}
    expected = Simulator(graph).run(inputs)["y"]
    assert expected.dtype == dtype
    np.testing.assert_array_equal(Simulator(wide).run(inputs)["y"], expected)


def test_half_floats_are_rounded_only_at_the_end() -> None:
    wide = widen(_chain("float16"), ("reference",))
    check_graph(wide)
    assert [op.kind for op in wide.ops] == ["cast", "cast", "add", "mul", "cast"]
    a, b = np.array([1, 2, 3], np.float16), np.array([2**-11, 0.5, 4], np.float16)
    result = Simulator(wide).run({"a": a, "b": b})["y"]
    exact = (a.astype(np.float64) + b) * np.array([2, 3, 5])
    np.testing.assert_array_equal(result, exact.astype(np.float16))


def test_what_has_a_kernel_stays() -> None:
    graph = _chain("float32")
    assert widen(graph, ("reference",)) is graph


def test_a_constant_output_is_copied() -> None:
    graph = _chain("float32")
    tensors = {**graph.tensors, "y": Tensor("y", (3,), "float32", data=np.ones(3, np.float32))}
    copied = copy_constant_outputs(graph.replace(tensors=tensors, ops=graph.ops[:1]))
    check_graph(copied)
    assert copied.ops[-1].kind == "reshape"
    assert not copied.tensors["y"].is_constant
