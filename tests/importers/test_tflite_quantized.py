"""Quantized files: uint8, int8, int4, float16 and dynamic-range weights, against LiteRT."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.passes import CANONICAL, run_passes
from compiler.simulator import Simulator
from tests.support.tflite_builder import Builder
from tests.support.tflite_check import assert_same_as_litert, read

CONV = {"padding": 0, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
RANDOM = np.random.default_rng(3)


def unsigned(shape: tuple[int, ...]) -> np.ndarray:
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


def bias(count: int) -> np.ndarray:
    return RANDOM.integers(-3000, 3000, count).astype(np.int32)


def unsigned_model(kind: str, options: str, fields: dict[str, Any], weight: np.ndarray) -> bytes:
    """One uint8 operator with weights whose zero point is not 128."""
    model = Builder()
    x = model.tensor("x", (1, 6, 5, 4), "uint8", scale=0.0231, zero_point=117)
    w = model.tensor("w", weight.shape, "uint8", scale=0.00417, zero_point=131, data=weight)
    b = model.tensor("b", (8,), "int32", scale=0.0231 * 0.00417, data=bias(8))
    y = model.tensor("y", (), "uint8", scale=0.0517, zero_point=122)
    model.op(kind, [x, w, b], [y], options, **fields)
    return model.build([x], [y])


@pytest.mark.parametrize("activation", [0, 1, 3])
@pytest.mark.parametrize(
    ("kind", "options", "shape", "fields"),
    [
        ("CONV_2D", "Conv2DOptions", (8, 3, 3, 4), CONV),
        ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", (1, 3, 3, 8),
         {**CONV, "depthMultiplier": 2}),
        ("FULLY_CONNECTED", "FullyConnectedOptions", (8, 120), {}),
    ],
)  # fmt: skip
def test_unsigned_products(
    kind: str, options: str, shape: tuple[int, ...], fields: dict[str, Any], activation: int
) -> None:
    fields = {**fields, "fusedActivationFunction": activation}
    graph = assert_same_as_litert(unsigned_model(kind, options, fields, unsigned(shape)), runs=10)
    assert graph.tensors["x"].dtype == graph.tensors["y"].dtype == "uint8"
    assert {graph.tensors[n].dtype for op in graph.ops[1:-1] for n in op.outputs} == {"int8"}


def unary_unsigned(kind: str, options: str | None, y: dict[str, Any], **fields: Any) -> bytes:
    model = Builder()
    a = model.tensor("x", (1, 5, 6, 3), "uint8", scale=0.0231, zero_point=117)
    b = model.tensor("y", (), "uint8", **y)
    model.op(kind, [a], [b], options, **fields)
    return model.build([a], [b])


@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_product_of_scales_is_rounded_to_float32(kind: str) -> None:
    """Output scale = 2 * float32(x scale * weight scale): odd accumulators are exact ties."""
    x_scale, w_scale = np.float32(0.0231), np.float32(0.00417)
    assert float(x_scale * w_scale) != float(x_scale) * float(w_scale)
    shape, more = ((4, 1, 1, 4), {}) if kind == "CONV_2D" else (
        (1, 1, 1, 4), {"depthMultiplier": 1})  # fmt: skip
    model = Builder()
    x = model.tensor("x", (1, 20, 20, 4), "uint8", scale=x_scale, zero_point=117)
    w = model.tensor("w", shape, "uint8", scale=w_scale, zero_point=131,
                     data=RANDOM.integers(130, 133, shape))  # fmt: skip
    b = model.tensor("b", (4,), "int32", scale=x_scale * w_scale, data=np.zeros(4))
    y = model.tensor("y", (), "uint8", scale=x_scale * w_scale * 2, zero_point=100)
    options = "Conv2DOptions" if kind == "CONV_2D" else "DepthwiseConv2DOptions"
    model.op(kind, [x, w, b], [y], options, **CONV, **more)
    assert_same_as_litert(model.build([x], [y]))


POOL = {"filterHeight": 2, "filterWidth": 2, "strideH": 1, "strideW": 1}
SAME_SCALE = {"scale": 0.0231, "zero_point": 117}


@pytest.mark.parametrize(
    "data",
    [
        unary_unsigned("AVERAGE_POOL_2D", "Pool2DOptions", SAME_SCALE, **POOL),
        unary_unsigned("MAX_POOL_2D", "Pool2DOptions", SAME_SCALE, **POOL),
        unary_unsigned("RELU6", None, {"scale": 0.02, "zero_point": 7}),
        unary_unsigned("LOGISTIC", None, {"scale": 1 / 256}),
        unary_unsigned("SOFTMAX", "SoftmaxOptions", {"scale": 1 / 256}, beta=1.0),
        unary_unsigned("RESHAPE", "ReshapeOptions", SAME_SCALE, newShape=[-1]),
    ],
    ids=["AVERAGE_POOL_2D", "MAX_POOL_2D", "RELU6", "LOGISTIC", "SOFTMAX", "RESHAPE"],
)
def test_unsigned(data: bytes) -> None:
    assert_same_as_litert(data, runs=10)


@pytest.mark.parametrize("kind", ["ADD", "MUL", "SUB"])
def test_unsigned_arithmetic(kind: str) -> None:
    model = Builder()
    a = model.tensor("a", (2, 40), "uint8", scale=0.0231, zero_point=117)
    b = model.tensor("b", (2, 40), "uint8", scale=0.0117, zero_point=3)
    y = model.tensor("y", (), "uint8", scale=0.031, zero_point=128)
    model.op(kind, [a, b], [y], f"{kind.capitalize()}Options")
    assert_same_as_litert(model.build([a, b], [y]), runs=10)


def test_unsigned_to_signed_at_the_edges() -> None:
    """An int8 model with uint8 input and output: the QUANTIZE pairs become one each."""
    model = Builder()
    x = model.tensor("x", (1, 8), "uint8", scale=0.5, zero_point=128)
    signed = model.tensor("signed", (1, 8), "int8", scale=0.5, zero_point=0)
    result = model.tensor("result", (1, 8), "int8", scale=1 / 256, zero_point=-128)
    y = model.tensor("y", (1, 8), "uint8", scale=1 / 256, zero_point=0)
    model.op("QUANTIZE", [x], [signed], "QuantizeOptions")
    model.op("SOFTMAX", [signed], [result], "SoftmaxOptions", beta=1.0)
    model.op("QUANTIZE", [result], [y], "QuantizeOptions")
    graph = assert_same_as_litert(model.build([x], [y]))
    canonical = run_passes(graph, CANONICAL)
    assert [op.kind for op in canonical.ops] == ["requantize", "softmax", "requantize"]


def test_unsigned_numbers_without_scale_stay() -> None:
    model = Builder()
    x = model.tensor("x", (4,), "uint8")
    y = model.tensor("y", (4,), "float32")
    model.op("CAST", [x], [y], "CastOptions", inDataType=3, outDataType=0)
    graph = read(model.build([x], [y]))
    result = Simulator(graph).run({"x": np.array([0, 1, 200, 255], np.uint8)})
    np.testing.assert_array_equal(result["y"], [0, 1, 200, 255])


def float_layer(**weight: Any) -> tuple[bytes, np.ndarray]:
    """A fully connected float layer with weights of another type, and an input."""
    model = Builder()
    x = model.tensor("x", (2, 3), "float32")
    w = model.tensor("w", (4, 3), **weight)
    y = model.tensor("y", (2, 4), "float32")
    inner = w
    if weight["dtype"] == "float16":
        inner = model.tensor("w32", (4, 3), "float32")
        model.op("DEQUANTIZE", [w], [inner], "DequantizeOptions")
    model.op("FULLY_CONNECTED", [x, inner, -1], [y], "FullyConnectedOptions")
    return model.build([x], [y]), RANDOM.uniform(-1, 1, (2, 3)).astype(np.float32)


def test_float16_weights_fold() -> None:
    values = RANDOM.uniform(-1, 1, (4, 3)).astype(np.float16)
    data, _ = float_layer(dtype="float16", data=values)
    graph = assert_same_as_litert(data)
    assert [op.kind for op in graph.ops] == ["fully_connected"]
    assert {t.dtype for t in graph.tensors.values()} == {"float32"}


def test_dynamic_range_weights_stay_integers() -> None:
    values = RANDOM.integers(-127, 128, (4, 3)).astype(np.int8)
    data, _ = float_layer(dtype="int8", scale=0.01, data=values)
    graph = assert_same_as_litert(data)
    assert [op.kind for op in graph.ops] == ["hybrid_fully_connected"]
    assert graph.tensors["w"].dtype == "int8"


def test_per_channel_convolution() -> None:
    model = Builder()
    x = model.tensor("x", (1, 5, 5, 4), "int8", scale=0.02, zero_point=-9)
    scales = np.array([0.001, 0.01, 0.003], np.float32)
    w = model.tensor("w", (3, 3, 3, 4), "int8", scale=scales, zero_point=(0, 0, 0), axis=0,
                     data=RANDOM.integers(-127, 128, (3, 3, 3, 4)))  # fmt: skip
    b = model.tensor("b", (3,), "int32", scale=scales * 0.02, zero_point=(0, 0, 0), data=bias(3))
    y = model.tensor("y", (), "int8", scale=0.03, zero_point=5)
    model.op("CONV_2D", [x, w, b], [y], "Conv2DOptions", version=3,
             fusedActivationFunction=3, **CONV)  # fmt: skip
    graph = assert_same_as_litert(model.build([x], [y]), runs=10)
    quant = graph.tensors["w"].quant
    assert quant is not None and quant.axis == 0 and quant.per_channel
