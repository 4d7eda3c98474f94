"""A 16x8 network, file to board: the bytes that LiteRT's reference kernels compute."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from compiler import api
from tests.support.tflite_builder import Builder, run_litert

SAME = 0


def network() -> bytes:
    """Convolution, depthwise, tanh, logistic, gelu, mul, pooling, fully connected, softmax."""
    random = np.random.default_rng(1)
    b = Builder()

    def weights(name: str, shape: tuple[int, ...], axis: int) -> tuple[int, int]:
        count = shape[axis]
        scale = random.uniform(0.004, 0.01, count)
        w = b.tensor(name, shape, "int8", scale=scale, zero_point=[0] * count, axis=axis,
                     data=random.integers(-127, 128, shape))  # fmt: skip
        data = random.integers(-9999, 9999, count)
        bias = b.tensor(f"{name}/bias", (count,), "int64", scale=scale * 1e-4,
                        zero_point=[0] * count, data=data)  # fmt: skip
        return w, bias

    def activation(name: str, shape: tuple[int, ...], scale: float) -> int:
        return b.tensor(name, shape, "int16", scale=scale)

    window = {"padding": SAME, "strideH": 1, "strideW": 1, "dilationHFactor": 1,
              "dilationWFactor": 1}  # fmt: skip
    image = (1, 8, 8, 6)
    x = activation("x", (1, 8, 8, 3), 1e-4)
    first = activation("first", image, 3e-4)
    b.op("CONV_2D", [x, *weights("w1", (6, 3, 3, 3), 0)], [first], "Conv2DOptions", 4, **window)
    second = activation("second", image, 3e-4)
    b.op("DEPTHWISE_CONV_2D", [first, *weights("w2", (1, 3, 3, 6), 3)], [second],
         "DepthwiseConv2DOptions", 5, depthMultiplier=1, **window)  # fmt: skip
    curves = []
    for kind, scale in (("TANH", 2.0**-15), ("LOGISTIC", 2.0**-15), ("GELU", 3e-4)):
        curve = activation(kind, image, scale)
        b.op(kind, [second], [curve], "GeluOptions" if kind == "GELU" else None, 3 if
             kind != "GELU" else 2)  # fmt: skip
        curves.append(curve)
    product, gated = activation("product", image, 2.0**-15), activation("gated", image, 3e-4)
    b.op("MUL", curves[:2], [product], "MulOptions", 5)
    b.op("ADD", [product, curves[2]], [gated], "AddOptions", 4)
    pooled = activation("pooled", (1, 4, 4, 6), 3e-4)
    b.op("AVERAGE_POOL_2D", [gated], [pooled], "Pool2DOptions", 3, padding=1, strideH=2, strideW=2,
         filterHeight=2, filterWidth=2)  # fmt: skip
    scores = activation("scores", (1, 10), 2e-4)
    w = b.tensor("w3", (10, 96), "int8", scale=0.005, data=random.integers(-127, 128, (10, 96)))
    b.op("FULLY_CONNECTED", [pooled, w, -1], [scores], "FullyConnectedOptions", 7)
    y = activation("y", (1, 10), 2.0**-15)
    b.op("SOFTMAX", [scores], [y], "SoftmaxOptions", 3, beta=1.0)
    return b.build([x], [y])


@pytest.mark.parametrize("board", ["host", "mps2-an386"])
def test_bytes_equal_litert(board: str, tmp_path: Path) -> None:
    if board != "host" and shutil.which("qemu-system-arm") is None:
        pytest.skip(f"board {board} needs qemu-system-arm")
    data, path = network(), tmp_path / "model.tflite"
    path.write_bytes(data)
    built = api.build(path, board=board, out=tmp_path / "build")
    x = np.random.default_rng(2).integers(-32768, 32768, (4, 1, 8, 8, 3)).astype(np.int16)
    found = api.run({"x": x}, board=board, out=tmp_path / "build").outputs["y"]
    for one, each in zip(x, found, strict=True):
        np.testing.assert_array_equal(each, run_litert(data, {"x": one})[0])
    assert len({each.tobytes() for each in found}) > 1
    assert built.manifest["blob_bytes"] < 20_000  # no table of every 16-bit value
