"""Networks as .tflite files, float32 or int8, by the schema of the TFLite flatbuffers."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from host_bench.networks import Layer, Network

#: (scale, zero point) of activations whose variance is about one.
CLAMPED, SIGNED = (6 / 255, -128), (8 / 127, 0)
INT8_VERSIONS = {"FULLY_CONNECTED": 4, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 3}


class Writer:
    def __init__(self, schema: ModuleType, int8: bool) -> None:
        self.schema, self.int8 = schema, int8
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.buffers = [schema.BufferT()]
        self.model.operatorCodes = []
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators = [], []
        self.model.subgraphs = [self.graph]
        self.tensors: dict[str, int] = {}
        self.codes: dict[int, int] = {}
        self.scales: dict[str, float] = {}

    def tensor(
        self, name: str, shape: list[int], kind: str, quant: tuple[Any, Any, int] | None = None,
        data: np.ndarray | None = None,
    ) -> int:  # fmt: skip
        tensor = self.schema.TensorT()
        tensor.name, tensor.shape = name.encode(), shape
        tensor.type = getattr(self.schema.TensorType, kind)
        tensor.buffer = 0
        if data is not None:
            buffer = self.schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            tensor.buffer = len(self.model.buffers) - 1
        if quant is not None:
            tensor.quantization = self.schema.QuantizationParametersT()
            tensor.quantization.scale = np.atleast_1d(quant[0]).astype(np.float32)
            tensor.quantization.zeroPoint = np.atleast_1d(quant[1]).astype(np.int64)
            tensor.quantization.quantizedDimension = quant[2]
        self.graph.tensors.append(tensor)
        self.tensors[name] = len(self.graph.tensors) - 1
        return self.tensors[name]

    def activation(self, name: str, shape: list[int], quant: tuple[float, int]) -> int:
        self.scales[name] = quant[0]
        if self.int8:
            return self.tensor(name, shape, "INT8", (*quant, 0))
        return self.tensor(name, shape, "FLOAT32")

    def weights(self, layer: Layer) -> list[int]:
        """Weights, symmetric per channel, and bias."""
        assert layer.weights is not None and layer.bias is not None
        weights, axis = layer.weights, 0
        scales = np.abs(weights).reshape(len(weights), -1).max(axis=1) / 127
        integers = np.rint(weights / scales[:, None, None, None]).astype(np.int8)
        if layer.kind == "depthwise":
            weights, integers, axis = (*(w.transpose(3, 1, 2, 0) for w in (weights, integers)), 3)
        elif layer.kind == "dense":
            weights, integers = (w.reshape(len(w), -1) for w in (weights, integers))
        names = (f"{layer.name}.w", f"{layer.name}.b")
        shape, count = list(weights.shape), [len(scales)]
        if not self.int8:
            return [
                self.tensor(names[0], shape, "FLOAT32", None, weights),
                self.tensor(names[1], count, "FLOAT32", None, layer.bias),
            ]
        zeros, sums = np.zeros(len(scales)), scales * self.scales[layer.inputs[0]]
        bias = np.rint(layer.bias / sums).astype(np.int32)
        return [
            self.tensor(names[0], shape, "INT8", (scales, zeros, axis), integers),
            self.tensor(names[1], count, "INT32", (sums, zeros, 0), bias),
        ]

    def operator(self, code: str, inputs: list[int], output: int, options: Any) -> None:
        number = getattr(self.schema.BuiltinOperator, code)
        if number not in self.codes:
            entry = self.schema.OperatorCodeT()
            entry.builtinCode, entry.deprecatedBuiltinCode, entry.version = number, number, 1
            if self.int8:
                entry.version = INT8_VERSIONS.get(code, 2)
            self.model.operatorCodes.append(entry)
            self.codes[number] = len(self.codes)
        operator = self.schema.OperatorT()
        operator.opcodeIndex = self.codes[number]
        operator.inputs, operator.outputs = inputs, [output]
        kind = type(options).__name__.removesuffix("T")
        operator.builtinOptionsType = getattr(self.schema.BuiltinOptions, kind)
        operator.builtinOptions = options
        self.graph.operators.append(operator)

    def layer(self, layer: Layer) -> None:
        schema, inputs = self.schema, [self.tensors[n] for n in layer.inputs]
        quant = CLAMPED if layer.activation != "none" else SIGNED
        if layer.kind in ("average", "max"):
            at = self.graph.tensors[inputs[0]].quantization
            quant = (float(at.scale[0]), int(at.zeroPoint[0])) if self.int8 else SIGNED
        if layer.weights is not None:
            inputs += self.weights(layer)
        flat = layer.kind == "dense"
        shape = [1, layer.shape[2]] if flat else [1, *layer.shape]
        output = self.activation(layer.name, shape, quant)
        code, options = {
            "conv": ("CONV_2D", schema.Conv2DOptionsT),
            "depthwise": ("DEPTHWISE_CONV_2D", schema.DepthwiseConv2DOptionsT),
            "dense": ("FULLY_CONNECTED", schema.FullyConnectedOptionsT),
            "add": ("ADD", schema.AddOptionsT),
            "average": ("AVERAGE_POOL_2D", schema.Pool2DOptionsT),
            "max": ("MAX_POOL_2D", schema.Pool2DOptionsT),
        }[layer.kind]
        chosen = options()
        chosen.fusedActivationFunction = getattr(
            schema.ActivationFunctionType, layer.activation.upper()
        )
        if layer.kind not in ("dense", "add"):
            whole = layer.kind == "average"
            chosen.padding = schema.Padding.VALID if whole else schema.Padding.SAME
            chosen.strideH = chosen.strideW = layer.stride
        if layer.kind in ("average", "max"):
            chosen.filterHeight, chosen.filterWidth = layer.kernel
        elif layer.kind in ("conv", "depthwise"):
            chosen.dilationHFactor = chosen.dilationWFactor = 1
        if layer.kind == "depthwise":
            chosen.depthMultiplier = 1
        self.operator(code, inputs, output, chosen)


def write_network(network: Network, path: Path, schema: ModuleType, int8: bool) -> None:
    import flatbuffers

    writer = Writer(schema, int8)
    flat = network.layers[0].kind == "dense"
    shape = [1, network.image[2]] if flat else [1, *network.image]
    writer.graph.inputs = [writer.activation("input", shape, SIGNED)]
    for layer in network.layers:
        writer.layer(layer)
    writer.graph.outputs = [writer.tensors[network.layers[-1].name]]
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(writer.model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
