"""Small networks: layout, transformers, and the models of the zoo, against ONNX Runtime."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from export_efficientnet import build_model
from onnx import helper
from torch_checkpoint import read_state_dict

from compiler.graph import Graph
from compiler.importers import read_model
from compiler.loading import load_builtins
from compiler.passes import CANONICAL, run_passes
from compiler.sample import sample_model
from compiler.simulator import Simulator
from tests.importers.onnx_models import assert_close, compare, make_model, noise
from tests.support.zoo_models import zoo_model

load_builtins()
IMAGE = noise(2, 3, 8, 12)


def kinds(graph: Graph) -> Counter[str]:
    return Counter(op.kind for op in graph.ops)


def conv(x: str, weight: str, y: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node("Conv", [x, weight], [y], **attributes)


def test_a_residual_block_keeps_one_transpose_at_each_end(tmp_path: Path) -> None:
    nodes = [
        conv("x", "w0", "a", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        conv("b", "w1", "c", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c", "b"], ["d"]),
        helper.make_node("Mul", ["d", "channels"], ["e"]),
        helper.make_node("Concat", ["e", "b"], ["f"], axis=1),
        helper.make_node("Softmax", ["f"], ["g"], axis=1),
        helper.make_node("Slice", ["g", "one", "five", "one"], ["y"]),
    ]
    constants = {
        "w0": noise(4, 3, 3, 3), "w1": noise(4, 4, 3, 3), "channels": noise(1, 4, 1, 1),
        "one": np.array([1]), "five": np.array([5]),
    }  # fmt: skip
    graph = compare(tmp_path / "m.onnx", make_model(nodes, {"x": IMAGE}, constants), {"x": IMAGE})
    assert kinds(graph)["transpose"] == 2
    assert graph.tensors["y"].shape == (2, 4, 8, 12)


def test_squeeze_and_excitation_has_no_transpose_inside(tmp_path: Path) -> None:
    nodes = [
        conv("x", "w0", "a"),
        helper.make_node("GlobalAveragePool", ["a"], ["p"]),
        conv("p", "w1", "q"),
        helper.make_node("Sigmoid", ["q"], ["s"]),
        helper.make_node("Mul", ["a", "s"], ["b"]),
        helper.make_node("ReduceMean", ["b", "axes"], ["y"], keepdims=0),
    ]
    constants = {"w0": noise(4, 3, 3, 3), "w1": noise(4, 4, 1, 1), "axes": np.array([2, 3])}
    graph = compare(tmp_path / "m.onnx", make_model(nodes, {"x": IMAGE}, constants), {"x": IMAGE})
    assert kinds(graph)["transpose"] == 1


def test_flatten_before_a_matrix_permutes_the_matrix(tmp_path: Path) -> None:
    nodes = [
        conv("x", "w0", "a"),
        helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["b"], ["c"]),
        helper.make_node("Gemm", ["c", "w1", "bias"], ["y"]),
    ]
    constants = {"w0": noise(4, 3, 3, 3), "w1": noise(60, 5), "bias": noise(5)}
    graph = compare(tmp_path / "m.onnx", make_model(nodes, {"x": IMAGE}, constants), {"x": IMAGE})
    assert kinds(graph)["transpose"] == 1


def test_channel_shuffle_sinks_through_its_reshapes(tmp_path: Path) -> None:
    nodes = [
        conv("x", "w0", "a"),
        helper.make_node("Reshape", ["a", "split"], ["b"]),
        helper.make_node("Transpose", ["b"], ["c"], perm=[0, 2, 1, 3, 4]),
        helper.make_node("Reshape", ["c", "joined"], ["d"]),
        conv("d", "w1", "y"),
    ]
    constants = {
        "w0": noise(6, 3, 1, 1), "w1": noise(4, 6, 1, 1),
        "split": np.array([2, 2, 3, 8, 12]), "joined": np.array([2, 6, 8, 12]),
    }  # fmt: skip
    graph = compare(tmp_path / "m.onnx", make_model(nodes, {"x": IMAGE}, constants), {"x": IMAGE})
    assert kinds(graph)["transpose"] == 3  # into NHWC, the shuffle itself, out of NHWC


def test_patches_of_a_vision_transformer_need_no_transpose_behind_them(tmp_path: Path) -> None:
    nodes = [
        conv("x", "w0", "a", strides=[4, 4]),
        helper.make_node("Reshape", ["a", "flat"], ["b"]),
        helper.make_node("Transpose", ["b"], ["c"], perm=[0, 2, 1]),
        helper.make_node("LayerNormalization", ["c", "gamma", "beta"], ["d"]),
        helper.make_node("MatMul", ["d", "w1"], ["y"]),
    ]
    constants = {
        "w0": noise(8, 3, 4, 4), "w1": noise(8, 5), "flat": np.array([0, 8, -1]),
        "gamma": noise(8), "beta": noise(8),
    }  # fmt: skip
    graph = compare(tmp_path / "m.onnx", make_model(nodes, {"x": IMAGE}, constants), {"x": IMAGE})
    assert kinds(graph)["transpose"] == 1


def test_attention(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "wq"], ["q"]),
        helper.make_node("MatMul", ["x", "wk"], ["k"]),
        helper.make_node("Reshape", ["q", "heads"], ["q1"]),
        helper.make_node("Reshape", ["k", "heads"], ["k1"]),
        helper.make_node("Transpose", ["q1"], ["q2"], perm=[0, 2, 1, 3]),
        helper.make_node("Transpose", ["k1"], ["k2"], perm=[0, 2, 3, 1]),
        helper.make_node("MatMul", ["q2", "k2"], ["scores"]),
        helper.make_node("Div", ["scores", "root"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "q2"], ["o"]),
        helper.make_node("Transpose", ["o"], ["o1"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["o1", "flat"], ["y"]),
    ]
    constants = {
        "wq": noise(8, 8), "wk": noise(8, 8, seed=1), "root": np.float32(2),
        "heads": np.array([0, 0, 2, 4]), "flat": np.array([0, 0, -1]),
    }  # fmt: skip
    x = noise(2, 5, 8)
    compare(tmp_path / "m.onnx", make_model(nodes, {"x": x}, constants), {"x": x})


def test_one_dimensional_convolutions_in_a_row(tmp_path: Path) -> None:
    nodes = [
        conv("x", "w0", "a", pads=[1, 1]),
        helper.make_node("LeakyRelu", ["a"], ["b"]),
        conv("b", "w1", "c", strides=[2]),
        helper.make_node("AveragePool", ["c"], ["y"], kernel_shape=[2]),
    ]
    x = noise(1, 3, 16)
    constants = {"w0": noise(4, 3, 3), "w1": noise(5, 4, 3)}
    graph = compare(tmp_path / "m.onnx", make_model(nodes, {"x": x}, constants), {"x": x})
    assert kinds(graph)["transpose"] == 2


def check_file(path: Path, shapes: dict[str, tuple[int, ...]]) -> Graph:
    graph = run_passes(read_model(path, shapes), CANONICAL)
    random = np.random.default_rng(0)
    inputs = {
        name: random.uniform(-1, 1, graph.tensors[name].shape).astype(graph.tensors[name].dtype)
        for name in graph.inputs
    }
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    expected = onnxruntime.InferenceSession(str(path), options).run(list(graph.outputs), inputs)
    results = Simulator(graph).run(inputs)
    for name, value in zip(graph.outputs, expected, strict=True):
        assert_close(results[name], value)
    return graph


def test_the_sample() -> None:
    graph = check_file(sample_model(), {})
    assert "transpose" not in kinds(graph)  # one channel: its transpose is a view


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("speech_embedding.onnx", {"input_1": (1, 76, 32, 1)}),
        ("melspectrogram_dyn.onnx", {"input": (1, 16000)}),
        ("ppocr_cls_dyn.onnx", {"x": (1, 3, 48, 192)}),
        ("magika_v3_3.onnx", {"bytes": (1, 2048)}),
    ],
)
def test_zoo(name: str, shapes: dict[str, tuple[int, ...]]) -> None:
    check_file(zoo_model(name), shapes)


@pytest.mark.slow
def test_text_detector(tmp_path: Path) -> None:
    """Without its last sigmoid, which of random numbers makes nothing but zeros."""
    model = onnx.load(str(zoo_model("ppocr_v4_det_dyn.onnx")))
    (sigmoid,) = (node for node in model.graph.node if model.graph.output[0].name in node.output)
    model.graph.output[0].name = sigmoid.input[0]
    model.graph.node.remove(sigmoid)
    path = tmp_path / "detector.onnx"
    path.write_bytes(model.SerializeToString())
    check_file(path, {"x": (1, 3, 64, 96)})


@pytest.mark.slow
def test_efficientnet_lite0(tmp_path: Path) -> None:
    checkpoint = zoo_model("efficientnet-lite0.pth")
    path = tmp_path / "efficientnet.onnx"
    path.write_bytes(build_model(read_state_dict(checkpoint)).SerializeToString())
    graph = check_file(path, {})
    assert kinds(graph) == {
        "conv2d": 33, "depthwise_conv2d": 16, "add": 9, "transpose": 1, "mean": 1, "reshape": 1,
        "fully_connected": 1,
    }  # fmt: skip
