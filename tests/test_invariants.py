"""A graph that breaks a rule is named with the rule; one that does not passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from compiler.errors import ModelError
from compiler.graph import Graph, Op, Quantization, Tensor
from compiler.invariants import check_graph
from compiler.operators.convolution import Conv2dParams
from compiler.operators.elementwise import ArithmeticParams, UnaryParams
from compiler.operators.state import AssignStateParams
from tests.support.graphs import QUANT, Sketch


def sound() -> Graph:
    """x -> conv -> exp -> y, in int8 up to the convolution's output."""
    sketch = Sketch()
    x = sketch.input("x", (1, 4, 4, 2), QUANT)
    scales = Quantization((0.1, 0.2, 0.3), (0, 0, 0), 0)
    weight = sketch.constant("w", np.ones((3, 1, 1, 2), np.int8), scales)
    bias = sketch.constant("b", np.zeros(3, np.int32))
    conv = sketch.op("conv2d", [x, weight, bias], "c", Conv2dParams())
    return sketch.graph([sketch.op("exp", [conv], "y", UnaryParams())])


def changed(tensor_name: str, **fields: object) -> Callable[[Graph], Graph]:
    def change(graph: Graph) -> Graph:
        tensor = replace(graph.tensors[tensor_name], **fields)
        return graph.replace(tensors={**graph.tensors, tensor_name: tensor})

    return change


def with_ops(change: Callable[[tuple[Op, ...]], tuple[Op, ...]]) -> Callable[[Graph], Graph]:
    return lambda graph: graph.replace(ops=change(graph.ops))


FAULTS: dict[str, tuple[Callable[[Graph], Graph], str]] = {
    "reversed order": (with_ops(lambda ops: ops[::-1]), "'exp' (y): reads 'c' before"),
    "made twice": (with_ops(lambda ops: (*ops, ops[1])), "tensor 'y' is made twice"),
    "made by nothing": (with_ops(lambda ops: ops[:1]), "output 'y' is made by no operator"),
    "foreign parameters": (
        with_ops(lambda ops: (ops[0], replace(ops[1], params=ArithmeticParams()))),
        "'exp' (y): its parameters are no UnaryParams",
    ),
    "unknown operator": (
        with_ops(lambda ops: (ops[0], replace(ops[1], kind="frobnicate"))), "'frobnicate'"
    ),
    "unknown output": (
        with_ops(lambda ops: (ops[0], replace(ops[1], outputs=("z",)))), "its output 'z'"
    ),
    "wrong shape": (changed("y", shape=(1, 4, 4, 2)), "'exp' (y): its output is"),
    "negative size": (changed("y", shape=(1, -4)), "has a negative size"),
    "unknown dtype": (changed("y", dtype="int4"), "dtype 'int4' is not one that Kiln has"),
    "other name": (changed("y", name="z"), "tensor 'z' is listed as 'y'"),
    "constant is made": (changed("c", data=np.zeros((1, 4, 4, 3), np.int8)), "is a constant"),
    "data of another shape": (changed("b", data=np.zeros(2, np.int32)), "its data is int32[2]"),
    "input with a value": (changed("x", data=np.zeros((1, 4, 4, 2), np.int8)), "has a value"),
    "no such input": (lambda graph: graph.replace(inputs=("q",)), "'q'"),
    "input twice": (lambda graph: graph.replace(inputs=("x", "x")), "is listed twice"),
    "profile": (lambda graph: graph.replace(numerics="exact"), "numerics 'exact'"),
    "zero point": (changed("x", quant=Quantization((0.1,), (128,))), "outside int8"),
    "zero scale": (changed("x", quant=Quantization((0.0,), (0,))), "not a positive number"),
    "counts": (changed("x", quant=Quantization((0.1,), (0, 1))), "other count of zero points"),
    "float with scale": (
        lambda graph: changed("x", dtype="float32")(graph), "cannot be quantized, integers only"
    ),
    "channels": (
        changed("w", quant=Quantization((0.1, 0.2), (0, 0), 0)), "2 scales for 3 channels"
    ),
    "axis": (
        changed("w", quant=Quantization((0.1, 0.2), (0, 0), 3)), "along axis 3, not 0"
    ),
    "no axis": (changed("w", quant=Quantization((0.1, 0.2), (0, 0))), "without a legal axis"),
    "bias": (
        changed("b", shape=(2,), data=np.zeros(2, np.int32)), "the bias has shape [2], not [3]"
    ),
    "depth": (
        changed("w", shape=(3, 1, 1, 4), data=np.ones((3, 1, 1, 4), np.int8)),
        "for another number of channels",
    ),
}  # fmt: skip


def test_a_sound_graph_passes() -> None:
    check_graph(sound())


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(fault: str) -> None:
    break_it, message = FAULTS[fault]
    with pytest.raises(Exception) as caught:
        check_graph(break_it(sound()))
    assert isinstance(caught.value, ModelError) or fault == "unknown operator"
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_state_needs_no_maker() -> None:
    sketch = Sketch()
    x = sketch.input("x", (2,))
    sketch.tensors["s"] = Tensor("s", (2,), "float32", is_state=True)
    check_graph(sketch.graph([sketch.op("add", [x, "s"], "y", ArithmeticParams())]))


def test_a_state_is_not_read_after_it_is_written() -> None:
    sketch = Sketch()
    x = sketch.input("x", (2,))
    sketch.tensors["s"] = Tensor("s", (2,), "float32", is_state=True)
    sketch.ops.append(Op("assign_state", "s", (x,), ("s",), AssignStateParams()))
    sketch.op("abs", ["s"], "y", UnaryParams())
    sketch.tensors["y"] = Tensor("y", (2,), "float32")
    with pytest.raises(ModelError, match=r"'abs' .*reads state 's' after it is written"):
        check_graph(sketch.graph(["y"]))
    check_graph(sketch.graph(["y"]).replace(ops=tuple(reversed(sketch.ops))))
