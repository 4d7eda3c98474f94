"""Files as they come: names, shapes, edges, dilations, everything unsupported, damage."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from compiler.errors import KilnError, ModelError, UnsupportedError, UsageError
from compiler.importers import read_model
from compiler.importers.tflite import Node, reads
from compiler.importers.tflite import node as node_module
from compiler.operators.elementwise import UnaryParams
from compiler.simulator import Simulator
from tests.support.tflite_builder import Builder
from tests.support.tflite_check import assert_same_as_litert, read


def add_model(names: tuple[str, str, str] = ("a", "b", "y")) -> bytes:
    model = Builder()
    a, b, y = (model.tensor(name, (1, 3), "float32") for name in names)
    model.op("ADD", [a, b], [y], "AddOptions")
    return model.build([a, b], [y])


def test_names_are_made_unique() -> None:
    graph = read(add_model(("x", "x", "")))
    assert (graph.inputs, graph.outputs) == (("x", "x_1"), ("tensor_2",))


def test_shape_is_bound_by_name() -> None:
    assert read(add_model(), {"a": (4, 3)}).tensors["y"].shape == (4, 3)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [({"c": (1, 3)}, "no such input; there is a, b"), ({"a": (3,)}, "has 1 dimensions")],
)
def test_wrong_shape_option(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(add_model(), shapes)


def test_dynamic_batch_is_one() -> None:
    model = Builder()
    x = model.tensor("x", (-1, 3), "float32")
    y = model.tensor("y", (-1, 3), "float32")
    model.op("TANH", [x], [y])
    assert read(model.build([x], [y])).tensors["y"].shape == (1, 3)


def test_shape_arithmetic_folds() -> None:
    """Reshape to (batch of x, 6), computed at run time in the file."""
    model = Builder()
    x = model.tensor("x", (2, 3, 2), "float32")
    shape = model.tensor("shape", (3,), "int32")
    batch = model.tensor("batch", (), "int32")
    wanted = model.tensor("wanted", (2,), "int32")
    y = model.tensor("y", (2, 6), "float32")
    zero = model.tensor("0", (1,), "int32", data=np.array([0]))
    one = model.tensor("1", (1,), "int32", data=np.array([1]))
    six = model.tensor("6", (), "int32", data=np.array(6))
    model.op("SHAPE", [x], [shape], "ShapeOptions", outType=2)
    model.op("STRIDED_SLICE", [shape, zero, one, one], [batch], "StridedSliceOptions",
             shrinkAxisMask=1)  # fmt: skip
    model.op("PACK", [batch, six], [wanted], "PackOptions", valuesCount=2)
    model.op("RESHAPE", [x, wanted], [y], "ReshapeOptions")
    graph = assert_same_as_litert(model.build([x], [y]))
    assert [op.kind for op in graph.ops] == ["reshape"]


@pytest.mark.parametrize("crops", [((0, 0), (0, 0)), ((0, 1), (1, 0))])
@pytest.mark.parametrize(
    ("kind", "options", "weight_shape"),
    [
        ("CONV_2D", "Conv2DOptions", (3, 3, 3, 3)),
        ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", (1, 3, 3, 3)),
    ],
)
def test_dilation_written_as_space_to_batch(
    kind: str, options: str, weight_shape: tuple[int, ...], crops: tuple[tuple[int, int], ...]
) -> None:
    model = Builder()
    values = np.random.default_rng(0).uniform(-1, 1, weight_shape)
    x = model.tensor("x", (1, 9, 8, 3), "float32")
    weight = model.tensor("w", weight_shape, "float32", data=values)
    bias = model.tensor("b", (3,), "float32", data=values.reshape(-1)[:3])
    block = model.tensor("block", (2,), "int32", data=np.array([2, 3]))
    pads = model.tensor("pads", (2, 2), "int32", data=np.array([[2, 3], [3, 4]]))
    crop = model.tensor("crops", (2, 2), "int32", data=np.array(crops))
    batched, result, y = (model.tensor(name, (), "float32") for name in ("batched", "result", "y"))
    more = {} if kind == "CONV_2D" else {"depthMultiplier": 1}
    model.op("SPACE_TO_BATCH_ND", [x, block, pads], [batched], "SpaceToBatchNDOptions")
    model.op(kind, [batched, weight, bias], [result], options, padding=1, strideH=1, strideW=1,
             dilationHFactor=1, dilationWFactor=1, **more)  # fmt: skip
    model.op("BATCH_TO_SPACE_ND", [result, block, crop], [y], "BatchToSpaceNDOptions")
    graph = assert_same_as_litert(model.build([x], [y]))
    (op,) = graph.ops
    assert op.params.dilation == (2, 3)


def test_edges() -> None:
    """An input that is an output, a constant output, an output twice, one that nobody uses."""
    model = Builder()
    x = model.tensor("x", (2, 4), "float32")
    constant = model.tensor("c", (3,), "float32", data=np.arange(3))
    parts = [model.tensor(f"part{n}", (2, 2), "float32") for n in range(2)]
    axis = model.tensor("axis", (), "int32", data=np.array(1))
    model.op("SPLIT", [axis, x], parts, "SplitOptions", numSplits=2)
    graph = read(model.build([x], [x, constant, parts[1], parts[1]]))
    assert graph.outputs == ("x", "c", "part1")
    value = np.arange(8, dtype=np.float32).reshape(2, 4)
    results = Simulator(graph).run({"x": value})
    np.testing.assert_array_equal(results["x"], value)
    np.testing.assert_array_equal(results["c"], [0, 1, 2])
    np.testing.assert_array_equal(results["part1"], value[:, 2:])


def test_everything_unsupported_is_listed() -> None:
    model = Builder()
    x = model.tensor("x", (2, 3), "float32")
    names = ("first", "second", "third")
    y = [model.tensor(name, (2, 3), "float32") for name in names]
    model.op("MATRIX_DIAG", [x], [y[0]])
    model.op("TANH", [y[0]], [y[1]])
    model.op("UNIQUE", [y[1]], [y[2]])
    with pytest.raises(UnsupportedError) as failure:
        read(model.build([x], [y[2]]))
    text = str(failure.value)
    assert "MATRIX_DIAG 'first'" in text and "UNIQUE 'third'" in text
    assert "second" not in text and "\n" not in text


def test_reader_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_module, "_lowerings", dict(node_module._lowerings))

    @reads("MATRIX_DIAG")
    def lower(node: Node) -> None:
        node.emit("neg", (node.input(0),), UnaryParams())

    with pytest.raises(ValueError, match="read twice"):
        reads("MATRIX_DIAG")(lower)
    model = Builder()
    x, y = (model.tensor(name, (2,), "float32") for name in "xy")
    model.op("MATRIX_DIAG", [x], [y])
    assert [op.kind for op in read(model.build([x], [y])).ops] == ["neg"]


def test_operators_that_do_not_fit_together() -> None:
    model = Builder()
    x = model.tensor("x", (2, 3), "float32")
    y = model.tensor("y", (2, 3), "float32")
    wrong = model.tensor("wrong", (2,), "int32", data=np.array([4, 4]))
    model.op("RESHAPE", [x, wrong], [y], "ReshapeOptions")
    with pytest.raises(ModelError, match=r"RESHAPE 'y': cannot give shape \[2, 3\]"):
        read(model.build([x], [y]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello, world\n", "is a text file"),
        (b"PK\x03\x04rest", "is a zip"),
        (b"\xff\xfe\x00\x01\x02\x03\x04\x05\x06", "neither a .tflite"),
        (add_model()[:40], "damaged or cut"),
        (add_model()[:7], "neither a .tflite"),
    ],
)
def test_not_a_model(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        read_model(path)


def network() -> bytes:
    """A small quantized network with most kinds of table in it."""
    model = Builder()
    x = model.tensor("x", (1, 8, 8, 3), "int8", scale=0.02, zero_point=3)
    w = model.tensor("w", (4, 3, 3, 3), "int8", scale=[0.01] * 4, zero_point=[0] * 4,
                     data=np.ones((4, 3, 3, 3)))  # fmt: skip
    b = model.tensor("b", (4,), "int32", scale=[0.0002] * 4, data=np.zeros(4))
    y = model.tensor("y", (1, 4, 4, 4), "int8", scale=0.1)
    pooled = model.tensor("pooled", (1, 1, 1, 4), "int8", scale=0.1)
    shape = model.tensor("shape", (2,), "int32", data=np.array([1, -1]))
    flat = model.tensor("flat", (1, 4), "int8", scale=0.1)
    result = model.tensor("result", (1, 4), "int8", scale=1 / 256, zero_point=-128)
    model.op("CONV_2D", [x, w, b], [y], "Conv2DOptions", padding=0, strideH=2, strideW=2,
             dilationHFactor=1, dilationWFactor=1)  # fmt: skip
    model.op("AVERAGE_POOL_2D", [y], [pooled], "Pool2DOptions", filterHeight=4, filterWidth=4,
             strideH=4, strideW=4)  # fmt: skip
    model.op("RESHAPE", [pooled, shape], [flat], "ReshapeOptions")
    model.op("SOFTMAX", [flat], [result], "SoftmaxOptions", beta=1.0)
    return model.build([x], [result])


def damaged(data: bytes, random: np.random.Generator) -> bytes:
    """Cut somewhere, or with up to eight bytes changed."""
    if random.random() < 0.25:
        return data[: random.integers(8, len(data))]
    changed = bytearray(data)
    for position in random.integers(8, len(data), random.integers(1, 9)):
        changed[position] = random.choice([0, 1, 127, 128, 255, random.integers(256)])
    return bytes(changed)


def test_damage_is_one_line_in_bounded_time_and_memory() -> None:
    data, random = network(), np.random.default_rng(5)
    read(data)
    refused = 0
    tracemalloc.start()
    for _ in range(600):
        started = time.perf_counter()
        try:
            read(damaged(data, random))
        except KilnError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 1000
        assert time.perf_counter() - started < 2
    assert refused > 300
    assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    tracemalloc.stop()
