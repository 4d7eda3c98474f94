"""Float graphs become int8 graphs: a layer by hand, scales that are shared, what stays float."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from compiler import registry
from compiler.errors import ModelError
from compiler.graph import Graph, OpView, Shape
from compiler.quantization import QuantizeRule, calibrate, quantize_int8
from compiler.quantization.rounding import improve_weights
from compiler.simulator import Simulator
from tests.quantization.networks import Network, kinds, quant_of, quantized, sqnr_db


def test_a_layer_by_hand() -> None:
    """1x1 convolution, ranges chosen so that every number can be followed.

    x in [-1, 1.55]: scale 0.01, zero point -28. y in [0, 5.1]: scale 0.02, zero point -128.
    Weights (0.5, -1.27) and (0.254, 0.1): scales 0.01 and 0.002.
    """
    network = Network((1, 1, 1, 2))
    weight = network.value(np.array([[0.5, -1.27], [0.254, 0.1]]).reshape(2, 1, 1, 2))
    bias = network.value(np.array([0.3, -0.004]))
    y = network.add("conv2d", "x", weight, bias, clamp=(0.0, np.inf))
    result = quantize_int8(network.graph([y]), {"x": (-1.0, 1.55), y: (0.0, 5.1)})
    assert kinds(result) == ["quantize", "conv2d", "dequantize"]
    x_int, y_int = result.ops[1].inputs[0], result.ops[1].outputs[0]
    assert quant_of(result, x_int) == (pytest.approx(0.01), -28)
    assert quant_of(result, y_int) == (pytest.approx(0.02), -128)
    weights, biases = (result.tensors[name] for name in result.ops[1].inputs[1:])
    assert weights.data is not None and biases.data is not None
    assert weights.data.reshape(2, 2).tolist() == [[50, -127], [127, 50]]
    assert weights.quant is not None and weights.quant.axis == 0
    assert weights.quant.scale == pytest.approx((0.01, 0.002))
    assert biases.data.tolist() == [3000, -200]  # 0.3 / 1e-4 and -0.004 / 2e-5
    assert biases.dtype == "int32"
    # x = (1.0, 0.5) is (72, 22), less the zero point (100, 50).
    # Channel 0: 50 * 100 - 127 * 50 + 3000 = 1650, times 1e-4 / 0.02 is 8.25.
    # Channel 1: 127 * 100 + 50 * 50 - 200 = 15000, times 2e-5 / 0.02 is 15.
    found = Simulator(result).run({"x": np.array([1.0, 0.5], np.float32).reshape(1, 1, 1, 2)})
    np.testing.assert_allclose(found[y].reshape(-1), [8 * 0.02, 15 * 0.02], rtol=1e-6)


@pytest.mark.parametrize("kind", ["conv2d", "depthwise_conv2d"])
def test_a_convolution_agrees_with_onnx_runtime(kind: str) -> None:
    """ONNX Runtime's QLinearConv given the same integers rounds once: within one step."""
    network = Network((1, 9, 8, 6))
    shape = (10, 3, 3, 6) if kind == "conv2d" else (1, 3, 3, 6)
    channels = shape[0] if kind == "conv2d" else 6
    y = network.add(kind, "x", network.constant(*shape), network.constant(channels),
                    padding=(1, 1, 1, 1))  # fmt: skip
    samples = network.samples()
    graph = quantized(network.graph([y]), samples, "minmax")
    op = next(op for op in graph.ops if op.kind == kind)
    seen: dict[str, np.ndarray] = {}
    Simulator(graph).run(samples[0], lambda name, value: seen.update({name: value}))
    expected = qlinear_conv(graph, op.inputs, op.outputs[0], seen[op.inputs[0]],
                            groups=6 if kind == "depthwise_conv2d" else 1)  # fmt: skip
    difference = seen[op.outputs[0]].astype(int) - expected
    assert np.abs(difference).max() <= 1
    assert (difference != 0).mean() < 0.02


def qlinear_conv(
    graph: Graph, inputs: tuple[str, ...], output: str, x: np.ndarray, groups: int
) -> np.ndarray:
    """ONNX Runtime's result, NHWC, for the integers and scales of ``graph``."""
    weight, bias = graph.tensors[inputs[1]], graph.tensors[inputs[2]]
    assert weight.data is not None and weight.quant is not None and bias.data is not None
    order = (3, 0, 1, 2) if groups > 1 else (0, 3, 1, 2)
    constants = {
        "x_scale": np.float32(quant_of(graph, inputs[0])[0]),
        "x_zero": np.int8(quant_of(graph, inputs[0])[1]),
        "w": weight.data.transpose(order),
        "w_scale": np.array(weight.quant.scale, np.float32),
        "w_zero": np.zeros(len(weight.quant.scale), np.int8),
        "y_scale": np.float32(quant_of(graph, output)[0]),
        "y_zero": np.int8(quant_of(graph, output)[1]),
        "b": bias.data,
    }
    node = helper.make_node("QLinearConv", ["x", *constants], ["y"], group=groups,
                            pads=[1, 1, 1, 1])  # fmt: skip
    nchw = x.transpose(0, 3, 1, 2)
    model = helper.make_model(
        helper.make_graph(
            [node], "q",
            [helper.make_tensor_value_info("x", TensorProto.INT8, nchw.shape)],
            [helper.make_tensor_value_info("y", TensorProto.INT8, None)],
            [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 13)], ir_version=8,
    )  # fmt: skip
    session = onnxruntime.InferenceSession(model.SerializeToString())
    result: np.ndarray = session.run(None, {"x": nchw})[0]
    return result.transpose(0, 2, 3, 1).astype(int)


def residual_network() -> tuple[Network, Graph]:
    network = Network((1, 12, 10, 3))
    weights = [network.constant(8, 3, 3, 3, scale=0.2), network.constant(8, 3, 3, 8, scale=0.1)]
    a = network.add("conv2d", "x", weights[0], network.constant(8), padding=(1, 1, 1, 1),
                    clamp=(0.0, 6.0))  # fmt: skip
    b = network.add("depthwise_conv2d", a, network.constant(1, 3, 3, 8, scale=0.3),
                    padding=(1, 1, 1, 1))  # fmt: skip
    c = network.add("add", network.add("conv2d", b, weights[1], padding=(1, 1, 1, 1)), a)
    d = network.add("hard_swish", network.add("pad", c, before=(0, 1, 1, 0), after=(0, 0, 0, 0)))
    e = network.add("average_pool2d", d, kernel=(2, 2), stride=(2, 2))
    f = network.add("concat", e, network.add("max_pool2d", d, kernel=(2, 2), stride=(2, 2)), axis=3)
    g = network.add("mean", f, axes=(1, 2))
    h = network.add("fully_connected", g, network.constant(5, 16), network.constant(5))
    return network, network.graph([h, network.add("softmax", h, axis=1)])


@pytest.mark.parametrize("method", ["minmax", "percentile", "mse", "kl"])
@pytest.mark.parametrize("numerics", ["tflite", "fast"])
def test_a_network_follows_its_float_original(method: str, numerics: str) -> None:
    network, graph = residual_network()
    result = quantized(graph, network.samples(), method).replace(numerics=numerics)
    assert sqnr_db(graph, result, network.samples(8)) > 30
    floats = [op.kind for op in result.ops if not result.view(op).outputs[0].quant]
    assert floats == ["dequantize", "dequantize"]


def test_more_bits_would_not_change_the_answer() -> None:
    """Every operator that has a rule computes on integers, and no float constant is left."""
    network, graph = residual_network()
    result = quantized(graph, network.samples(), "mse")
    constants = [t for t in result.tensors.values() if t.is_constant]
    assert {t.dtype for t in constants} == {"int8", "int32"}
    weights = [t.data for t in constants if t.dtype == "int8" and t.data is not None]
    assert min(int(w.min()) for w in weights) >= -127


def test_moved_elements_share_a_scale() -> None:
    network = Network((1, 4, 4, 2))
    a = network.add("add", "x", network.value(np.float32([3.0])))
    b = network.add("concat", "x", a, axis=3)
    c = network.add("max_pool2d", network.add("transpose", b, permutation=(0, 2, 1, 3)),
                    kernel=(2, 2))  # fmt: skip
    result = quantized(network.graph([c]), network.samples(), "minmax")
    movers = [op for op in result.ops if op.kind in ("concat", "transpose", "max_pool2d")]
    scales = {quant_of(result, n) for op in movers for n in (*op.inputs, *op.outputs)}
    assert len(scales) == 1
    assert "requantize" not in kinds(result)


def test_fixed_output_scales_and_what_they_meet() -> None:
    network = Network((1, 6))
    squashed = network.add("logistic", "x")
    view = network.add("reshape", squashed, shape=(6,))
    wide = network.add("concat", squashed, network.add("mul", "x", "x"), axis=1)
    bounded = network.add("tanh", "x")
    samples = network.samples()
    result = quantized(network.graph([view, wide, bounded]), samples, "minmax")
    made = {op.kind: op.outputs[0] for op in result.ops}
    assert quant_of(result, made["logistic"]) == (1 / 256, -128)
    assert quant_of(result, made["tanh"]) == (1 / 128, 0)
    assert kinds(result).count("requantize") == 1  # before the concat, which needs more range
    assert sqnr_db(network.graph([view, wide, bounded]), result, samples) > 35


def test_operators_without_a_rule_stay_float() -> None:
    network = Network((1, 8))
    a = network.add("mul", "x", "x")
    b = network.add("log", network.add("exp", a))
    c = network.add("add", b, a)
    samples = network.samples()
    result = quantized(network.graph([c]), samples, "minmax")
    assert kinds(result) == [
        "quantize", "mul", "dequantize", "exp", "log", "quantize", "add", "dequantize",
    ]  # fmt: skip
    assert sqnr_db(network.graph([c]), result, samples) > 30


def test_inputs_and_outputs_keep_their_names_and_stay_float() -> None:
    network, graph = residual_network()
    result = quantized(graph, network.samples(), "minmax")
    assert (result.inputs, result.outputs) == (graph.inputs, graph.outputs)
    assert {result.tensors[n].dtype for n in (*result.inputs, *result.outputs)} == {"float32"}


def test_a_clamp_gives_its_range_to_what_only_it_reads() -> None:
    network = Network((1, 64))
    a = network.add("mul", "x", network.value(np.float32([40.0])))
    b = network.add("clamp", network.add("leaky_relu", a, alpha=0.1), low=0.0, high=1.0)
    result = quantized(network.graph([b]), network.samples(), "minmax")
    (clamp,) = (op for op in result.ops if op.kind == "clamp")
    assert quant_of(result, clamp.inputs[0]) == (pytest.approx(1 / 255), -128)


def test_dead_channels_and_large_biases_fit() -> None:
    """A channel of zeros, and a bias that in units of input * weight would not fit an int32."""
    network = Network((1, 1, 1, 2))
    weight = network.value(np.array([[0, 0], [1e-9, 0], [1, 1]]).reshape(3, 1, 1, 2))
    y = network.add("conv2d", "x", weight, network.value(np.float32([0.5, 0.25, 1.0])))
    samples = network.samples()
    result = quantized(network.graph([y]), samples, "minmax")
    found = Simulator(result).run(samples[0])[y].reshape(-1)
    wanted = Simulator(network.graph([y])).run(samples[0])[y].reshape(-1)
    step = quant_of(result, result.ops[1].outputs[0])[0]
    np.testing.assert_allclose(found, wanted, atol=0.51 * step + 0.02)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", ["weights", "bias"])
def test_constants_that_are_no_numbers_are_refused(value: float, place: str) -> None:
    network = Network((1, 1, 1, 2))
    weight, bias = np.ones((3, 1, 1, 2)), np.zeros(3)
    (weight if place == "weights" else bias).flat[0] = value
    y = network.add("conv2d", "x", network.value(weight), network.value(bias), clamp=(0.0, 6.0))
    ranges = {"x": (-1.0, 1.0), y: (0.0, 6.0)}
    with pytest.raises(ModelError, match=f"'{y}': NaN or infinity in its {place}"):
        quantize_int8(network.graph([y]), ranges)


@pytest.mark.parametrize("rounding", ["nearest", "adaptive"])
def test_samples_that_overflow_do_not_spoil_the_bias(rounding: str) -> None:
    network = Network((1, 4))
    y = network.add("fully_connected", "x", network.constant(3, 4))
    samples = network.samples()
    samples[0] = {"x": np.full((1, 4), np.inf, np.float32)}
    improved = improve_weights(network.graph([y]), samples, rounding)
    for tensor in improved.tensors.values():
        assert tensor.data is None or np.isfinite(tensor.data).all()


def test_a_shared_weight_is_stored_once() -> None:
    network = Network((1, 4))
    weight = network.constant(4, 4)
    a = network.add("fully_connected", "x", weight)
    b = network.add("fully_connected", a, weight)
    result = quantized(network.graph([b]), network.samples(), "minmax")
    assert len([t for t in result.tensors.values() if t.is_constant]) == 1


def test_a_plugin_quantizes_its_own_operator() -> None:
    @registry.params.of("test_halve")
    @dataclass(frozen=True)
    class HalveParams:
        """x / 2."""

    @registry.shape.of("test_halve")
    def shape(view: OpView) -> list[tuple[Shape, str]]:
        return [(view.input(0).shape, view.output().dtype)]

    @registry.reference.of("test_halve")
    def halve(view: OpView, x: np.ndarray) -> np.ndarray:
        output = view.output()
        if output.quant is None:
            return x / np.float32(2)
        real = (x.astype(float) - view.input(0).zero_point) * view.input(0).scale / 2
        steps = np.rint(real / output.scale) + output.zero_point
        return np.clip(steps, -128, 127).astype(np.int8)

    network = Network((1, 16))
    graph = network.graph([network.add("test_halve", "x")])
    assert kinds(quantized(graph, network.samples(), "minmax")) == ["test_halve"]
    registry.quantize.of("test_halve")(QuantizeRule())
    result = quantized(graph, network.samples(), "minmax")
    assert kinds(result) == ["quantize", "test_halve", "dequantize"]
    assert sqnr_db(graph, result, network.samples()) > 35


def test_calibration_sees_every_activation() -> None:
    network, graph = residual_network()
    ranges = calibrate(graph, network.samples(2), "minmax")
    assert set(ranges) == {n for n, t in graph.tensors.items() if not t.is_constant}
