"""ONNX files as they come: damaged, dynamic, out of order, with shape arithmetic, unsupported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from compiler.errors import KilnError, ModelError, UnsupportedError
from compiler.importers import read_model
from compiler.loading import load_builtins
from compiler.sample import sample_model
from compiler.simulator import Simulator
from tests.importers.onnx_models import FLOAT, assert_close, compare, make_model, noise

load_builtins()
X = noise(1, 3, 8, 8)


def save(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def relu(x: str = "x", y: str = "y") -> onnx.NodeProto:
    return helper.make_node("Relu", [x], [y])


def dynamic_model() -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Flatten", ["image"], ["y"])],
        "dynamic",
        [helper.make_tensor_value_info("image", FLOAT, ["N", 3, "height", 8])],
        [helper.make_empty_tensor_value_info("y")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_file_is_one_line(share: float, tmp_path: Path) -> None:
    data = sample_model().read_bytes()
    path = tmp_path / "cut.onnx"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(ModelError) as caught:
        read_model(path)
    assert "cut.onnx" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_flipped_bytes_never_escape(tmp_path: Path) -> None:
    """Whatever a damaged byte does, the failure is one of ours."""
    data = bytearray(sample_model().read_bytes())
    random = np.random.default_rng(0)
    path = tmp_path / "model.onnx"
    for position in random.integers(0, 600, 40):
        damaged = bytearray(data)
        damaged[position] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        try:
            read_model(path)
        except KilnError as error:
            assert "\n" not in str(error)


def test_a_dynamic_dimension_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"'image'.*'N'.*--shape image=N,3,height,8"):
        read_model(save(dynamic_model(), tmp_path))


def test_dynamic_dimensions_are_bound(tmp_path: Path) -> None:
    graph = read_model(save(dynamic_model(), tmp_path), {"image": (2, 3, 4, 8)})
    assert graph.tensors["y"].shape == (2, 96)


def test_a_contradicting_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="contradicts the file"):
        read_model(save(dynamic_model(), tmp_path), {"image": (2, 4, 4, 8)})


def test_a_shape_for_no_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KilnError, match=r"'picture'.*image"):
        read_model(save(dynamic_model(), tmp_path), {"picture": (1, 3, 8, 8)})


def test_every_unsupported_node_is_listed_at_once(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Det", ["x"], ["a"], name="first"),
        relu("a", "b"),
        helper.make_node("Reshape", ["x", "x"], ["c"], name="second"),
        helper.make_node("Whatever", ["b"], ["y"], name="third", domain="my.domain"),
    ]
    with pytest.raises(UnsupportedError) as caught:
        read_model(save(make_model(nodes, {"x": X}, outputs=("y", "c")), tmp_path))
    message = str(caught.value)
    assert "3 unsupported nodes" in message
    for name in ("first", "Det", "second", "third", "my.domain.Whatever"):
        assert name in message


def test_an_output_that_is_not_computed_is_refused_only_if_used(tmp_path: Path) -> None:
    pool = helper.make_node("MaxPool", ["x"], ["y", "places"], name="pool", kernel_shape=[2, 2])
    read_model(save(make_model([pool], {"x": X}), tmp_path))
    with pytest.raises(UnsupportedError, match=r"pool.*places"):
        read_model(save(make_model([pool], {"x": X}, outputs=("y", "places")), tmp_path))


def test_nodes_out_of_order_and_initialisers_among_the_inputs(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Add", ["conv", "shift"], ["y"]),
        helper.make_node("Conv", ["x", "weight"], ["conv"]),
    ]
    constants = {"weight": noise(4, 3, 3, 3), "shift": noise(4, 1, 1)}
    model = make_model(nodes, {"x": X, **constants}, constants)
    graph = read_model(save(model, tmp_path))
    assert graph.inputs == ("x",)
    ordered = make_model(nodes[::-1], {"x": X}, constants)
    compare(tmp_path / "ordered.onnx", ordered, {"x": X})
    results = Simulator(graph).run({"x": X})
    assert_close(results["y"], Simulator(read_model(tmp_path / "ordered.onnx")).run({"x": X})["y"])


def test_a_cycle_and_a_missing_producer_are_named(tmp_path: Path) -> None:
    cycle = [relu("b", "a"), relu("a", "b"), helper.make_node("Add", ["x", "a"], ["y"])]
    with pytest.raises(ModelError, match="depends on its own output"):
        read_model(save(make_model(cycle, {"x": X}), tmp_path))
    with pytest.raises(ModelError, match="'gone', which nothing produces"):
        read_model(save(make_model([relu("gone")], {"x": X}), tmp_path))


def test_external_data_is_read_and_missed(tmp_path: Path) -> None:
    constants = {"weight": noise(64, 3, 3, 3)}
    node = helper.make_node("Conv", ["x", "weight"], ["y"])
    path = tmp_path / "outside.onnx"
    onnx.save(
        make_model([node], {"x": X}, constants), str(path), save_as_external_data=True,
        location="outside.bin", size_threshold=0,
    )  # fmt: skip
    weights = [t for t in read_model(path).tensors.values() if t.is_constant]
    np.testing.assert_array_equal(weights[0].data, constants["weight"].transpose(0, 2, 3, 1))
    (tmp_path / "outside.bin").unlink()
    with pytest.raises(ModelError, match="outside"):
        read_model(path)


def test_shape_arithmetic_leaves_no_operator(tmp_path: Path) -> None:
    """What PyTorch writes for ``x.view(x.shape[0], -1)``."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch"], axis=0),
        helper.make_node("Unsqueeze", ["batch", "axes"], ["first"]),
        helper.make_node("Concat", ["first", "rest"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["y"]),
    ]
    constants = {
        "zero": np.array(0, np.int64),
        "axes": np.array([0], np.int64),
        "rest": np.array([-1], np.int64),
    }
    graph = compare(tmp_path / "model.onnx", make_model(nodes, {"x": X}, constants), {"x": X})
    assert [op.kind for op in graph.ops] == ["reshape"]


def test_an_output_that_is_an_input_or_twice_the_same(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Identity", ["x"], ["same"]),
        relu("x", "y"),
        helper.make_node("Identity", ["y"], ["again"]),
    ]
    model = make_model(nodes, {"x": X}, outputs=("y", "same", "again"))
    compare(tmp_path / "model.onnx", model, {"x": X})


def test_an_old_opset_is_converted(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Not", ["b"], ["n"])],
        "old",
        [
            helper.make_tensor_value_info("x", FLOAT, [2, 3]),
            helper.make_tensor_value_info("b", TensorProto.BOOL, [3]),
        ],
        [
            helper.make_tensor_value_info("r", FLOAT, [2, 3]),
            helper.make_tensor_value_info("n", TensorProto.BOOL, [3]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)], ir_version=4)
    assert {op.kind for op in read_model(save(model, tmp_path)).ops} == {"clamp", "logical_not"}


def test_metadata_becomes_labels_and_preprocessing() -> None:
    graph = read_model(sample_model())
    (name,) = graph.inputs
    assert graph.labels == tuple("0123456789")
    assert graph.preprocessing[name].std == (255.0,)


def test_strings_are_refused_by_name(tmp_path: Path) -> None:
    names = numpy_helper.from_array(np.array([b"a", b"b"], object), "names")
    model = make_model([relu()], {"x": X})
    model.graph.initializer.append(names)
    with pytest.raises(UnsupportedError, match="'names'"):
        read_model(save(model, tmp_path))
