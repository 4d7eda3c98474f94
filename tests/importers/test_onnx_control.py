"""If, Loop and Scan, and functions of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from compiler.errors import UnsupportedError
from compiler.importers import read_model
from tests.importers.onnx_models import FLOAT, compare, make_model, noise

X = noise(2, 3)


def graph(nodes: list[onnx.NodeProto], inputs: list[str], outputs: list[str]) -> onnx.GraphProto:
    """A body whose tensors have whatever type they get."""
    empty = helper.make_empty_tensor_value_info
    return helper.make_graph(nodes, "body", list(map(empty, inputs)), list(map(empty, outputs)))


def branches(then: str, other: str) -> dict[str, onnx.GraphProto]:
    """Two unary operators on the outer x."""
    return {
        f"{name}_branch": graph([helper.make_node(kind, ["x"], [name])], [], [name])
        for name, kind in (("then", then), ("else", other))
    }


def test_a_known_condition_takes_one_branch(tmp_path: Path) -> None:
    node = helper.make_node("If", ["c"], ["y"], **branches("Exp", "Neg"))
    model = make_model([node], {"x": X}, {"c": np.array(False)})
    read = compare(tmp_path / "model.onnx", model, {"x": X})
    assert [op.kind for op in read.ops] == ["neg"]


@pytest.mark.parametrize("condition", [False, True])
def test_of_a_computed_condition_both_sides_are(tmp_path: Path, condition: bool) -> None:
    node = helper.make_node("If", ["c"], ["y"], **branches("Exp", "Neg"))
    inputs = {"x": X, "c": np.array(condition)}
    read = compare(tmp_path / "model.onnx", make_model([node], inputs), inputs)
    assert {op.kind for op in read.ops} == {"exp", "neg", "select"}


def test_a_shape_cannot_depend_on_a_computed_condition(tmp_path: Path) -> None:
    bodies = branches("Exp", "Neg")
    bodies["else_branch"] = graph([helper.make_node("ReduceSum", ["x"], ["else"])], [], ["else"])
    node = helper.make_node("If", ["c"], ["y"], **bodies)
    path = tmp_path / "model.onnx"
    path.write_bytes(make_model([node], {"x": X, "c": np.array(True)}).SerializeToString())
    with pytest.raises(UnsupportedError, match=r"condition.*'c'"):
        read_model(path)


def test_a_loop_is_unrolled(tmp_path: Path) -> None:
    """Doubles three times, and stacks what there is in between."""
    make = helper.make_node
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            make("Add", ["carried", "carried"], ["next"]),
            make("Identity", ["go"], ["go_out"]),
            make("Identity", ["next"], ["stacked"]),
        ],
        "body",
        [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []),
         info("carried", FLOAT, [2, 3])],
        [info("go_out", TensorProto.BOOL, []), info("next", FLOAT, [2, 3]),
         info("stacked", FLOAT, [2, 3])],
    )  # fmt: skip
    node = make("Loop", ["trips", "go_in", "x"], ["y", "all"], body=body)
    constants = {"trips": np.array(3, np.int64), "go_in": np.array(True)}
    model = make_model([node], {"x": X}, constants, outputs=("y", "all"))
    read = compare(tmp_path / "model.onnx", model, {"x": X})
    assert [op.kind for op in read.ops].count("add") == 3


def test_a_scan_is_unrolled_backwards(tmp_path: Path) -> None:
    make, info = helper.make_node, helper.make_tensor_value_info
    body = helper.make_graph(
        [make("Add", ["state", "element"], ["sum"]), make("Identity", ["sum"], ["out"])],
        "body",
        [info("state", FLOAT, [3]), info("element", FLOAT, [3])],
        [info("sum", FLOAT, [3]), info("out", FLOAT, [3])],
    )
    node = make("Scan", ["first", "x"], ["y", "all"], body=body, num_scan_inputs=1,
                scan_input_directions=[1])  # fmt: skip
    x = noise(4, 3)
    model = make_model([node], {"x": x}, {"first": noise(3)}, outputs=("y", "all"))
    compare(tmp_path / "model.onnx", model, {"x": x})


def test_many_turns_are_joined_in_steps(tmp_path: Path) -> None:
    """A kernel call takes no more than 64 operands."""
    make, info = helper.make_node, helper.make_tensor_value_info
    body = helper.make_graph(
        [make("Add", ["state", "element"], ["sum"]), make("Identity", ["sum"], ["out"])],
        "body",
        [info("state", FLOAT, [2]), info("element", FLOAT, [2])],
        [info("sum", FLOAT, [2]), info("out", FLOAT, [2])],
    )
    x = noise(100, 2)
    node = make("Scan", ["first", "x"], ["y", "all"], body=body, num_scan_inputs=1)
    model = make_model([node], {"x": x}, {"first": noise(2)}, outputs=("y", "all"))
    read = compare(tmp_path / "model.onnx", model, {"x": x})
    assert max(len(op.inputs) for op in read.ops) < 60


def test_a_function_of_the_file(tmp_path: Path) -> None:
    """With an attribute that is passed on, and one that is left out."""
    inner = helper.make_node("LeakyRelu", ["a"], ["b"])
    inner.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope",
                                               type=onnx.AttributeProto.FLOAT))  # fmt: skip
    function = helper.make_function(
        "mine", "Leaky", ["a"], ["b"], [inner], [helper.make_opsetid("", 18)], ["slope"]
    )
    nodes = [
        helper.make_node("Leaky", ["x"], ["h"], domain="mine", slope=0.3),
        helper.make_node("Leaky", ["h"], ["y"], domain="mine"),
    ]
    model = make_model(nodes, {"x": X})
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("mine", 1))
    compare(tmp_path / "model.onnx", model, {"x": X})


def test_a_failure_inside_says_where(tmp_path: Path) -> None:
    body = graph([helper.make_node("Det", ["x"], ["d"], name="deep")], [], ["d"])
    node = helper.make_node("If", ["c"], ["y"], name="outer", then_branch=body, else_branch=body)
    model = make_model([node], {"x": noise(3, 3)}, {"c": np.array(True)})
    model.graph.initializer.append(numpy_helper.from_array(np.zeros(1, np.float32), "unused"))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(UnsupportedError, match=r"'outer' \(If\).*'deep' \(Det\)"):
        read_model(path)
