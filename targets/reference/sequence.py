"""Recurrent layers and grid sampling of the reference target, in float32."""

from __future__ import annotations

import math

import numpy as np

from compiler.graph import OpView
from compiler.kernels import Buffer, Call, Constant, Field, Input, Kernel, Output, Scratch, kernel
from compiler.operators.grid import MODES, PADDINGS
from compiler.operators.sequence import ACTIVATIONS


def _or_zeros(view: OpView, index: int, size: int) -> Buffer:
    """Input ``index``, or zeros where it is absent."""
    if view.optional(index) is not None:
        return Input(index)
    return Constant(np.zeros(size, np.float32), "bias")


class Recurrent(Kernel):
    """One layer in one direction."""

    cell = ""

    def fits(self, view: OpView) -> bool:
        return view.params.cell == self.cell

    def buffers(self, view: OpView) -> tuple[Buffer, ...]:
        """What follows x, the weights and the first output."""
        return (Output(0),)

    def call(self, view: OpView) -> Call:
        steps, batch, _ = view.input(0).shape
        kinds = tuple(ACTIVATIONS)
        fields: dict[str, Field] = {
            "steps": steps,
            "batch": batch,
            "hidden": view.input(1).shape[1],
            "reverse": int(view.params.reverse),
            "linear_before_reset": int(view.params.linear_before_reset),
            "activation": tuple(kinds.index(name) for name in view.params.activations),
            "clip": float(view.params.clip),
        }
        return Call("sequence_shape", fields, (Input(0), Input(1), Input(2), *self.buffers(view)))


class Lstm(Recurrent):
    """The cell lies in the second output."""

    cell = "lstm"

    def buffers(self, view: OpView) -> tuple[Buffer, ...]:
        hidden = view.input(1).shape[1]
        cells = view.output(1).elements
        return (_or_zeros(view, 3, cells), _or_zeros(view, 4, 3 * hidden), Output(0), Output(1))


class Gru(Recurrent):
    """Two rows of scratch: both gates."""

    cell = "gru"

    def buffers(self, view: OpView) -> tuple[Buffer, ...]:
        hidden = view.input(1).shape[1]
        return (_or_zeros(view, 5, hidden), Scratch(8 * hidden), Output(0))


class Rnn(Recurrent):
    """One gate, which is the output."""

    cell = "rnn"


for _cls in (Rnn, Lstm, Gru):
    kernel(
        "recurrent", target="reference", name=f"recurrent_{_cls.cell}_float32__reference",
        source="sequence.h", dtypes=("float32",),
    )(_cls)  # fmt: skip


@kernel(
    "grid_sample", target="reference", name="grid_sample_float32__reference",
    source="grid_sample.h", dtypes=("float32",),
)  # fmt: skip
class GridSample(Kernel):
    """Images whose channels come before their axes."""

    def fits(self, view: OpView) -> bool:
        return view.input(1).dtype == "float32" and 1 <= len(view.input(0).shape) - 2 <= 3

    def call(self, view: OpView) -> Call:
        batch, channels, *extent = view.input(0).shape
        p = view.params
        return Call(
            "grid_sample_shape",
            {
                "batch": batch,
                "channels": channels,
                "points": math.prod(view.input(1).shape[1:-1]),
                "axes": len(extent),
                "extent": tuple([1] * (3 - len(extent)) + extent),
                "mode": MODES.index(p.mode),
                "padding": PADDINGS.index(p.padding),
                "align_corners": int(p.align_corners),
            },
            (Input(0), Input(1), Output(0)),
        )
