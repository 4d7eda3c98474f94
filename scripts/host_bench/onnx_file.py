"""Networks as ONNX: float32, and int8 between QuantizeLinear and DequantizeLinear nodes.

Runs in the environment of the peers. The transformer exists as ONNX only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from host_bench.networks import Layer, Network
from onnx import TensorProto, helper, numpy_helper

OPSET = 13
TRANSFORMER = (4, 64, 128, 4)  # layers, tokens, width, heads


class Builder:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def node(self, kind: str, output: str, inputs: list[str], **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def constant(self, name: str, value: np.ndarray) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def save(
        self, path: Path, shapes: tuple[list[int], list[int]], output: str, name: str
    ) -> None:
        infos = [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
            for n, s in zip(("input", output), shapes, strict=True)
        ]
        graph = helper.make_graph(self.nodes, name, infos[:1], infos[1:], self.initializers)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.checker.check_model(model)
        path.write_bytes(model.SerializeToString())


def write_network(network: Network, path: Path) -> None:
    builder = Builder()
    for layer in network.layers:
        _write_layer(builder, layer)
    height, width, channels = network.image
    last = network.layers[-1]
    builder.save(
        path, ([1, channels, height, width], [1, last.shape[2]]), last.name, network.name
    )


def _write_layer(builder: Builder, layer: Layer) -> None:
    inputs, plain = list(layer.inputs), layer.activation == "none"
    name = layer.name if plain else f"{layer.name}.sum"
    if layer.kind in ("conv", "depthwise"):
        _convolution(builder, layer, name)
    elif layer.kind == "dense":
        assert layer.weights is not None and layer.bias is not None
        flat = builder.node("Flatten", f"{layer.name}.flat", inputs)
        weights = builder.constant(f"{layer.name}.w", layer.weights.reshape(layer.shape[2], -1))
        bias = builder.constant(f"{layer.name}.b", layer.bias)
        builder.node("Gemm", name, [flat, weights, bias], transB=1)
    elif layer.kind == "add":
        builder.node("Add", name, inputs)
    elif layer.kind == "average":
        builder.node("GlobalAveragePool", name, inputs)
    else:
        builder.node(
            "MaxPool", name, inputs, kernel_shape=list(layer.kernel),
            strides=[layer.stride] * 2, pads=list(layer.padding),
        )  # fmt: skip
    if layer.activation == "relu":
        builder.node("Relu", layer.name, [name])
    elif layer.activation == "relu6":
        low = builder.constant(f"{layer.name}.low", np.float32(0))
        high = builder.constant(f"{layer.name}.high", np.float32(6))
        builder.node("Clip", layer.name, [name, low, high])


def _convolution(builder: Builder, layer: Layer, name: str) -> None:
    assert layer.weights is not None and layer.bias is not None
    weights = builder.constant(f"{layer.name}.w", layer.weights.transpose(0, 3, 1, 2))
    bias = builder.constant(f"{layer.name}.b", layer.bias)
    groups = layer.shape[2] if layer.kind == "depthwise" else 1
    builder.node(
        "Conv", name, [layer.inputs[0], weights, bias], kernel_shape=list(layer.kernel),
        strides=[layer.stride] * 2, pads=list(layer.padding), group=groups,
    )  # fmt: skip


def write_transformer(path: Path) -> None:
    """An encoder, normalised before each half layer; GELU by its tanh form."""
    layers, tokens, width, heads = TRANSFORMER
    builder, random = Builder(), np.random.default_rng(7)

    def product(x: str, name: str, depth: int, outputs: int) -> str:
        matrix = random.normal(0, depth**-0.5, (depth, outputs)).astype(np.float32)
        bias = random.normal(0, 0.1, outputs).astype(np.float32)
        y = builder.node("MatMul", f"{name}.product", [x, builder.constant(f"{name}.w", matrix)])
        return builder.node("Add", name, [y, builder.constant(f"{name}.b", bias)])

    def normalise(x: str, name: str) -> str:
        mean = builder.node("ReduceMean", f"{name}.mean", [x], axes=[-1], keepdims=1)
        rest = builder.node("Sub", f"{name}.rest", [x, mean])
        square = builder.node("Mul", f"{name}.square", [rest, rest])
        variance = builder.node("ReduceMean", f"{name}.var", [square], axes=[-1], keepdims=1)
        epsilon = builder.constant(f"{name}.epsilon", np.float32(1e-5))
        root = builder.node(
            "Sqrt", f"{name}.root", [builder.node("Add", f"{name}.safe", [variance, epsilon])]
        )
        return builder.node("Div", name, [rest, root])

    def split(x: str, name: str, order: list[int]) -> str:
        shape = builder.constant(
            f"{name}.shape", np.array([1, tokens, heads, width // heads], np.int64)
        )
        return builder.node(
            "Transpose", name, [builder.node("Reshape", f"{name}.split", [x, shape])], perm=order
        )

    def attention(x: str, name: str) -> str:
        y = normalise(x, f"{name}.norm")
        q, k, v = (product(y, f"{name}.{part}", width, width) for part in "qkv")
        scores = builder.node(
            "MatMul", f"{name}.scores",
            [split(q, f"{name}.qh", [0, 2, 1, 3]), split(k, f"{name}.kh", [0, 2, 3, 1])],
        )  # fmt: skip
        scale = builder.constant(f"{name}.scale", np.float32((width // heads) ** -0.5))
        scaled = builder.node("Mul", f"{name}.scaled", [scores, scale])
        weights = builder.node("Softmax", f"{name}.softmax", [scaled], axis=-1)
        mixed = builder.node(
            "MatMul", f"{name}.mixed", [weights, split(v, f"{name}.vh", [0, 2, 1, 3])]
        )
        back = builder.node("Transpose", f"{name}.back", [mixed], perm=[0, 2, 1, 3])
        shape = builder.constant(f"{name}.shape", np.array([1, tokens, width], np.int64))
        joined = builder.node("Reshape", f"{name}.joined", [back, shape])
        return builder.node("Add", f"{name}.out", [x, product(joined, f"{name}.o", width, width)])

    def feed_forward(x: str, name: str) -> str:
        y = product(normalise(x, f"{name}.norm"), f"{name}.up", width, 4 * width)
        cubed = builder.node(
            "Mul", f"{name}.cube", [y, builder.node("Mul", f"{name}.square", [y, y])]
        )
        small = builder.constant(f"{name}.c", np.float32(0.044715))
        inner = builder.node(
            "Add", f"{name}.inner", [y, builder.node("Mul", f"{name}.small", [cubed, small])]
        )
        root = builder.constant(f"{name}.r", np.float32((2 / np.pi) ** 0.5))
        curve = builder.node(
            "Tanh", f"{name}.tanh", [builder.node("Mul", f"{name}.arg", [inner, root])]
        )
        one = builder.constant(f"{name}.one", np.float32(1))
        half = builder.constant(f"{name}.half", np.float32(0.5))
        gate = builder.node(
            "Mul", f"{name}.gate", [builder.node("Add", f"{name}.plus", [curve, one]), half]
        )
        y = builder.node("Mul", f"{name}.gelu", [y, gate])
        return builder.node("Add", f"{name}.out", [x, product(y, f"{name}.down", 4 * width, width)])

    x = "input"
    for i in range(layers):
        x = feed_forward(attention(x, f"attention{i}"), f"mlp{i}")
    builder.save(path, ([1, tokens, width], [1, tokens, width]), x, "transformer")


def transformer_macs() -> int:
    layers, tokens, width, _ = TRANSFORMER
    return layers * (tokens * width * width * 12 + 2 * tokens * tokens * width)


def quantize(source: Path, path: Path) -> None:
    """By onnxruntime's own quantizer: QDQ, int8, weights per channel, random calibration."""
    from onnxruntime import quantization as ort

    shape = [d.dim_value for d in onnx.load(source).graph.input[0].type.tensor_type.shape.dim]
    random = np.random.default_rng(3)
    samples = iter([{"input": random.normal(0, 1, shape).astype(np.float32)} for _ in range(4)])

    class Reader(ort.CalibrationDataReader):
        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(samples, None)

    prepared = path.with_suffix(".prepared.onnx")
    ort.quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
    ort.quantize_static(
        str(prepared), str(path), Reader(), quant_format=ort.QuantFormat.QDQ, per_channel=True,
        activation_type=ort.QuantType.QInt8, weight_type=ort.QuantType.QInt8,
    )  # fmt: skip
    prepared.unlink()
