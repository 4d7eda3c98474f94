"""Pooling against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.graph import Graph, Op, Tensor
from compiler.operators.pooling import PoolParams
from compiler.simulator import Simulator
from tests.operators.litert import Case, Spec, compare
from tests.operators.test_convolution import VALID, Window, activation

WINDOWS = [
    Window((1, 7, 6, 3), (3, 3), (2, 2)),
    Window((3, 8, 8, 2), (2, 2), (2, 2), padding=VALID),
    Window((2, 5, 4, 5), (2, 3)),
    Window((1, 9, 9, 1), (9, 9), padding=VALID),
    Window((1, 4, 4, 4), (1, 1), (2, 3)),
]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
def test_pool(dtype: str, name: str, window: Window, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for fused in (0, 1, 3):
        x = activation(rng, window.image, dtype, 0.05 if dtype != "int16" else 0.0004)
        y = Spec(
            (window.image[0], *window.output_hw, window.image[3]), dtype, x.scale, x.zero_point
        )
        fields: dict[str, Any] = {
            "padding": window.padding, "strideH": window.stride[0], "strideW": window.stride[1],
            "filterHeight": window.kernel[0], "filterWidth": window.kernel[1],
            "fusedActivationFunction": fused,
        }  # fmt: skip
        compare(Case(name, [x], [y], "Pool2DOptions", 3, fields), tmp_path, rng)


def test_average_pool_counts_padding_where_it_is_told_to() -> None:
    """ONNX's count_include_pad: the divisor is the whole window."""
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 2, 2, 1)
    tensors = {"x": Tensor("x", x.shape, "float32"), "y": Tensor("y", (1, 1, 1, 1), "float32")}
    params = PoolParams((3, 3), padding=(1, 0, 1, 0), count_include_pad=True)
    graph = Graph(
        "g", tensors, (Op("average_pool2d", "y", ("x",), ("y",), params),), ("x",), ("y",)
    )
    np.testing.assert_allclose(Simulator(graph).run({"x": x})["y"].ravel(), [10 / 9], rtol=1e-6)
