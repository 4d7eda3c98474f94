"""An operator from outside the tree: snake, x + sin(a x)^2 / a, with a kernel in C.

Given as ``--plugin snake.py``. Source of the formula: Ziyin, Hartwig, Ueda, "Neural networks fail
to learn periodic functions and how to fix it", 2020.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compiler.graph import OpView, Shape
from compiler.importers.tflite import reads
from compiler.importers.tflite.node import Node
from compiler.kernels import Call, Input, Kernel, Output, kernel
from compiler.registry import classify, params, reference, shape


@params.of("snake")
@dataclass(frozen=True)
class SnakeParams:
    """Input x; output of the same shape. ``a`` is the frequency, in radians per unit of x."""

    a: float


classify("snake", "elementwise")


@shape.of("snake")
def snake_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(0).shape, view.input(0).dtype)]


@reference.of("snake")
def snake(view: OpView, x: np.ndarray) -> np.ndarray:
    a = np.float32(view.params.a)
    return (x + np.sin(a * x) ** 2 / a).astype(np.float32)


@kernel(
    "snake", target="reference", name="snake_float32__reference", source="snake.h",
    dtypes=("float32",), folder=Path(__file__).parent,
)  # fmt: skip
class Snake(Kernel):
    """One pass over the elements, in place if it can be."""

    def call(self, view: OpView) -> Call:
        fields = {"elements": view.output().elements, "a": float(view.params.a)}
        return Call("snake_shape", fields, (Input(0), Output(0)))

    def in_place(self, view: OpView) -> dict[int, int]:
        return {0: 0}


@reads("Snake")
def read_snake(node: Node) -> None:
    """A custom operator of a TFLite file; its options are one little-endian float."""
    (a,) = struct.unpack("<f", node.operator.custom_options)
    node.emit("snake", (node.input(0),), SnakeParams(a))
