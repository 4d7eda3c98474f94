"""Failures that users of other tools reported, each as a test; the judge is LiteRT or numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.graph import Graph, Op, Quantization, Tensor
from compiler.loading import load_builtins
from compiler.operators.convolution import Conv2dParams
from compiler.operators.elementwise import ArithmeticParams, BinaryParams, SelectParams
from compiler.operators.movement import PadParams
from compiler.simulator import Simulator
from tests.operators.litert import Case, Spec, compare, every_value, random_values
from tests.operators.specs import random_spec
from tests.operators.test_convolution import (
    RELU_N1_TO_1,
    SAME,
    Window,
    accumulator_scale,
    activation,
    conv_case,
    weight_specs,
)
from tests.support.graphs import Sketch

load_builtins()


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_dilated_convolution_over_one_axis(dtype: str, tmp_path: Path) -> None:
    """tflite-micro#2319: length 8, kernel 3, dilation 2, SAME."""
    rng = np.random.default_rng(1)
    for image, kernel, dilation in (((1, 1, 8, 1), (1, 3), (1, 2)), ((1, 8, 1, 1), (3, 1), (2, 1))):
        window = Window(image, kernel, (1, 1), dilation, SAME)
        compare(conv_case(rng, window, 4, dtype), tmp_path, rng)


def test_fully_connected_with_scales_far_apart(tmp_path: Path) -> None:
    """tflite-micro#2602, #2673: one scale was used for all channels."""
    rng = np.random.default_rng(2)
    x = activation(rng, (1, 32), "int8", 0.02)
    scales = [2.0**-k for k in range(4, 12)]
    weight = Spec((8, 32), "int8", scales, 0, 0, rng.integers(-127, 128, (8, 32)))
    y = activation(rng, (1, 8), "int8", 0.5)
    compare(Case("FULLY_CONNECTED", [x, weight], [y], "FullyConnectedOptions", 9), tmp_path, rng)


def test_limits_of_an_activation_are_rounded(tmp_path: Path) -> None:
    """tflite-micro#2327: -1 / 0.4 = -2.5 is 3 steps below the zero point, not 2."""
    rng = np.random.default_rng(3)
    window = Window((1, 6, 6, 3), (3, 3))
    case = conv_case(rng, window, 4, "int8", fused=RELU_N1_TO_1)
    y = Spec(case.outputs[0].shape, "int8", 0.4, -100)
    case = Case(case.name, case.inputs, [y], case.options, case.version, case.fields)
    compare(case, tmp_path, rng)


def test_pooling_of_every_batch(tmp_path: Path) -> None:
    """tflite-micro#3584: only the first image of a batch was pooled."""
    rng = np.random.default_rng(4)
    for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        x = Spec((5, 4, 4, 3), "int8", 0.1, -7)
        fields = {"filterHeight": 2, "filterWidth": 2, "strideH": 2, "strideW": 2}
        case = Case(name, [x], [Spec((5, 2, 2, 3), "int8", 0.1, -7)], "Pool2DOptions", 2, fields)
        compare(case, tmp_path, rng)


def binary_graph(kind: str, a: np.ndarray, b: np.ndarray) -> Graph:
    sketch = Sketch()
    names = [sketch.input(name, x.shape) for name, x in (("a", a), ("b", b))]
    shape = np.broadcast_shapes(a.shape, b.shape)
    sketch.tensors["y"] = Tensor("y", shape, "float32")
    params: Any = BinaryParams() if kind in ("maximum", "minimum") else ArithmeticParams()
    sketch.ops.append(Op(kind, "y", tuple(names), ("y",), params))
    return sketch.graph(["y"])


@pytest.mark.parametrize(
    ("first", "second"),
    [((7,), (7,)), ((7,), (1,)), ((2, 1, 3, 1, 2, 2), (3, 1, 4, 1, 2)), ((3, 1, 4), (3, 5, 4))],
)
@pytest.mark.parametrize("kind", ["maximum", "minimum", "add", "mul"])
def test_broadcasts_of_any_rank(kind: str, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """tflite-micro#3563: rank 1 and above 4; XNNPACK#10650: [N,1,C] with [N,H,C]."""
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=shape).astype(np.float32) for shape in (first, second))
    function = {"maximum": np.maximum, "minimum": np.minimum, "add": np.add, "mul": np.multiply}
    found = Simulator(binary_graph(kind, a, b)).run({"a": a, "b": b})["y"]
    np.testing.assert_array_equal(found, function[kind](a, b))


def test_select_of_rank_six() -> None:
    """LiteRT c509b8d05: SELECT_V2 of an output with six dimensions."""
    rng = np.random.default_rng(6)
    sketch = Sketch()
    shapes = {"condition": (2, 1, 3, 1, 2, 1), "a": (1, 2, 1, 2, 1, 2), "b": (2,)}
    values: dict[str, np.ndarray] = {}
    for name, shape in shapes.items():
        dtype = "bool" if name == "condition" else "float32"
        sketch.tensors[name] = Tensor(name, shape, dtype)
        sketch.inputs.append(name)
        values[name] = random_values(rng, shape, dtype)
    sketch.tensors["y"] = Tensor("y", (2, 2, 3, 2, 2, 2), "float32")
    sketch.ops.append(Op("select", "y", tuple(shapes), ("y",), SelectParams()))
    found = Simulator(sketch.graph(["y"])).run(values)["y"]
    np.testing.assert_array_equal(found, np.where(values["condition"], values["a"], values["b"]))


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_transposed_convolution_to_its_last_row(dtype: str, tmp_path: Path) -> None:
    """CMSIS-NN#230, #233: 4x4x8, kernel 4x4, stride 2, padding 1; the last row was not written."""
    rng = np.random.default_rng(7)
    x = activation(rng, (1, 4, 4, 8), dtype, 0.02)
    weights = weight_specs(rng, dtype, (4, 4, 4, 8), 0, 0.02)
    y = activation(rng, (1, 8, 8, 4), dtype, accumulator_scale(128, dtype))
    shape = Spec((4,), "int32", data=np.array((1, 8, 8, 4)))
    fields = {"padding": SAME, "strideH": 2, "strideW": 2}
    inputs = [shape, weights[0], x, *weights[1:]]
    compare(Case("TRANSPOSE_CONV", inputs, [y], "TransposeConvOptions", 4, fields), tmp_path, rng)


@pytest.mark.parametrize("name", ["CONV_2D", "FULLY_CONNECTED"])
def test_accumulators_near_the_limit_keep_their_sign(name: str, tmp_path: Path) -> None:
    """CMSIS-NN#220: rounding overflowed 32 bits, and the largest sums became negative."""
    rng = np.random.default_rng(8)
    sums = np.array([2**31 - 20000, 2**30, -(2**31) + 20000, -(2**30)])
    is_conv = name == "CONV_2D"
    middle = (1, 1) if is_conv else ()
    scale = 2.0**-14
    x = Spec((1, *middle, 4), "int8", scale)
    weight = Spec((4, *middle, 4), "int8", [scale] * 4, data=rng.integers(-9, 9, (4, *middle, 4)))
    bias = Spec((4,), "int32", [scale * scale] * 4, data=sums)
    y = Spec((1, *middle, 4), "int8", 0.0625)
    fields = {"strideH": 1, "strideW": 1} if is_conv else {}
    options = "Conv2DOptions" if is_conv else "FullyConnectedOptions"
    compare(Case(name, [x, weight, bias], [y], options, 5, fields), tmp_path, rng)


def test_padding_has_the_input_zero_point() -> None:
    """apache/tvm#13364: edges of a quantized convolution, against a pad of real zeros before it."""
    rng = np.random.default_rng(9)
    quant = Quantization((0.05,), (-111,))
    graphs = []
    weight = rng.integers(-127, 128, (3, 3, 3, 2)).astype(np.int8)
    scales = Quantization((0.01, 0.02, 0.03), (0, 0, 0), 0)
    for is_inside in (True, False):
        sketch = Sketch()
        x = sketch.input("x", (1, 5, 5, 2), quant)
        w = sketch.constant("w", weight, scales)
        if not is_inside:
            x = sketch.op("pad", [x], "padded", PadParams((0, 1, 1, 0), (0, 1, 1, 0)))
        params = Conv2dParams(padding=(1, 1, 1, 1) if is_inside else (0, 0, 0, 0))
        graphs.append(sketch.graph([sketch.op("conv2d", [x, w], "y", params)]))
    values = random_values(rng, (1, 5, 5, 2), "int8")
    inside, before = (Simulator(graph).run({"x": values})["y"] for graph in graphs)
    np.testing.assert_array_equal(inside, before)


def test_sum_of_a_tensor_and_itself(tmp_path: Path) -> None:
    """apache/tvm#11732: the same operand twice."""
    quant = Quantization((0.1,), (5,))
    sketch = Sketch()
    x = sketch.input("x", (256,), quant)
    doubled = sketch.op("add", [x, x], "y", ArithmeticParams(), quant=Quantization((0.2,), (5,)))
    values = every_value("int8")
    found = Simulator(sketch.graph([doubled])).run({"x": values})["y"]
    np.testing.assert_array_equal(found, values)


def test_leaky_relu_below_zero(tmp_path: Path) -> None:
    """apache/tvm#11397: only [0, 1] had been tried."""
    rng = np.random.default_rng(10)
    values = every_value("int8")
    for _ in range(8):
        x = Spec(values.shape, "int8", 1 / 128)
        y = random_spec(rng, values.shape, "int8")
        case = Case("LEAKY_RELU", [x], [y], "LeakyReluOptions", 2, {"alpha": 0.01})
        compare(case, tmp_path, rng, [values])
