"""Fourier transforms on the reference target."""

from __future__ import annotations

import math

import numpy as np

from compiler.graph import OpView
from compiler.kernels import Call, Constant, Input, Kernel, Output, kernel


@kernel(
    "rfft", target="reference", name="rfft_float32__reference", source="spectral.h",
    dtypes=("float32",),
)  # fmt: skip
class Rfft(Kernel):
    """A complex transform of half the length, in the output, whose ends are then joined."""

    def cost(self, view: OpView) -> float:
        length = view.params.length
        rows = view.output().elements // (length + 2)
        return float(rows * length * (2 + int(math.log2(length))))

    def call(self, view: OpView) -> Call:
        length = view.params.length
        turns = np.arange(length // 2) / length * 2 * np.pi
        table = np.stack([np.cos(turns), -np.sin(turns)], axis=1).astype(np.float32)
        fields = {
            "rows": view.output().elements // (length + 2),
            "input_length": view.input(0).shape[-1],
            "length": length,
        }
        return Call("rfft_shape", fields, (Input(0), Constant(table, "table"), Output(0)))
