"""Builds EfficientNet-Lite0 as a float32 ONNX file from its PyTorch weights, without PyTorch.

    python scripts/export_efficientnet.py efficientnet-lite0.pth efficientnet-lite0.onnx

Input ``image`` float32 (1, 3, 224, 224), RGB; output ``logits`` float32 (1, 1000).

Preprocessing: scale the shorter side to 256 (bicubic) and crop the centre 224 x 224, then
``(pixel - mean) / std`` per channel with MEAN and STD below, in units of 0..255. Mean and std are
also in the file's ``metadata_props``, where Kiln's importer finds them.
The structure is that of Tan and Le, "EfficientNet" (2019), scaled as "Lite0": no squeeze and
excitation, ReLU6 instead of swish. The weights were trained in TensorFlow, so padding is SAME:
with mean 127, std 128 and SAME 91 of 100 photographs are right, with symmetric padding 82, with
the usual ImageNet mean and std 74.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch_checkpoint import read_state_dict

IMAGE_SIZE = 224
BATCH_NORM_EPSILON = 1e-3
MEAN = (127.0, 127.0, 127.0)
STD = (128.0, 128.0, 128.0)

#: (blocks, stride of the first) per stage; kernels and widths are read off the weights.
STAGES = ((1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1))


class Exporter:
    """Appends nodes and initialisers; every method returns the name of its output."""

    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def node(self, kind: str, name: str, inputs: list[str], **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: np.ndarray | None = None) -> str:
        array = self.weights[name] if value is None else value
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def convolution(self, x: str, key: str, stride: int = 1, groups: int = 1) -> str:
        kernel = self.weights[f"{key}.weight"].shape[2]
        return self.node(
            "Conv", f"{key}.out", [x, self.constant(f"{key}.weight")],
            kernel_shape=[kernel, kernel], strides=[stride, stride], group=groups,
            auto_pad="SAME_UPPER",
        )  # fmt: skip

    def batch_norm(self, x: str, key: str) -> str:
        parts = ("weight", "bias", "running_mean", "running_var")
        values = [self.constant(f"{key}.{part}") for part in parts]
        return self.node(
            "BatchNormalization", f"{key}.out", [x, *values], epsilon=BATCH_NORM_EPSILON
        )

    def relu6(self, x: str) -> str:
        return self.node("Clip", f"{x}.relu6", [x, "zero", "six"])

    def block(self, x: str, index: int, stride: int) -> str:
        """Inverted residual: expand 1x1, depthwise, project 1x1, and the skip where it fits."""
        key = f"_blocks.{index}"
        y = x
        if f"{key}._expand_conv.weight" in self.weights:
            y = self.convolution(y, f"{key}._expand_conv")
            y = self.relu6(self.batch_norm(y, f"{key}._bn0"))
        channels = self.weights[f"{key}._depthwise_conv.weight"].shape[0]
        y = self.convolution(y, f"{key}._depthwise_conv", stride, channels)
        y = self.relu6(self.batch_norm(y, f"{key}._bn1"))
        y = self.batch_norm(self.convolution(y, f"{key}._project_conv"), f"{key}._bn2")
        first = self.weights.get(f"{key}._expand_conv.weight")
        width_in = channels if first is None else first.shape[1]
        if stride == 1 and width_in == self.weights[f"{key}._project_conv.weight"].shape[0]:
            y = self.node("Add", f"{key}.skip", [y, x])
        return y

    def network(self, x: str) -> str:
        self.constant("zero", np.float32(0))
        self.constant("six", np.float32(6))
        x = self.relu6(self.batch_norm(self.convolution(x, "_conv_stem", 2), "_bn0"))
        strides = [stride if i == 0 else 1 for count, stride in STAGES for i in range(count)]
        for index, stride in enumerate(strides):
            x = self.block(x, index, stride)
        x = self.relu6(self.batch_norm(self.convolution(x, "_conv_head"), "_bn1"))
        x = self.node("Flatten", "features", [self.node("GlobalAveragePool", "pooled", [x])])
        gemm = [x, self.constant("_fc.weight"), self.constant("_fc.bias")]
        return self.node("Gemm", "logits", gemm, transB=1)


def build_model(weights: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    """The checked ONNX model of a state dict (efficientnet_lite_pytorch's names)."""
    exporter = Exporter(weights)
    exporter.network("image")
    image = [1, 3, IMAGE_SIZE, IMAGE_SIZE]
    graph = helper.make_graph(
        exporter.nodes,
        "efficientnet-lite0",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, image)],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1000])],
        exporter.initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    properties = {"mean": MEAN, "std": STD}
    helper.set_model_props(
        model, {key: ",".join(map(str, values)) for key, values in properties.items()}
    )
    onnx.checker.check_model(model)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("model", type=Path)
    arguments = parser.parse_args()
    model = build_model(read_state_dict(arguments.checkpoint))
    temporary = arguments.model.with_suffix(".partial")
    temporary.write_bytes(model.SerializeToString())
    os.replace(temporary, arguments.model)
    print(f"{arguments.model}: {arguments.model.stat().st_size} bytes")


if __name__ == "__main__":
    main()
