"""Recurrent layers of the reference target: their states are updated where they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.graph import OpView, Tensor
from compiler.kernel_fields import clamp_fields
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, Scratch, kernel
from compiler.operators.recurrent import (
    ACTIVATIONS,
    BIASES,
    CELL,
    GATES,
    HIDDEN,
    INPUT_WEIGHTS,
    NORMS,
    PEEPHOLES,
    PROJECTION,
    PROJECTION_BIAS,
    RECURRENT_WEIGHTS,
    cell_clip_steps,
    cell_exponent,
    gate_biases,
    gate_multipliers,
    hidden_multiplier,
    svdf_multipliers,
)

SOURCE = "recurrent.h"


def sequence_fields(view: OpView) -> dict[str, Field]:
    """Sizes, and element strides of x and y over time and batch."""
    first, second, features = view.input(0).shape
    outputs = view.output().shape[2]
    major = view.params.time_major
    time, batch = (first, second) if major else (second, first)
    over_time, over_batch = (batch, 1) if major else (1, time)
    return {
        "time": time,
        "batch": batch,
        "features": features,
        "outputs": outputs,
        "x_time": over_time * features,
        "x_batch": over_batch * features,
        "y_time": over_time * outputs,
        "y_batch": over_batch * outputs,
    }


class Rnn(Kernel):
    """float32 only."""

    def fits(self, view: OpView) -> bool:
        return all(t is not None and t.dtype == "float32" for t in view.inputs)

    def in_place(self, view: OpView) -> Mapping[int, int]:
        return {1: 4}

    def call(self, view: OpView) -> Call:
        units = view.output().shape[2]
        activation = ACTIVATIONS.index(view.params.activation)
        return Call(
            "rnn_shape",
            {**sequence_fields(view), "activation": activation},
            (*(Input(i) for i in range(5)), Scratch(4 * units), Output(0), Output(1)),
        )


kernel("rnn", target="reference", name="rnn_float32__reference", source=SOURCE,
       dtypes=("float32",))(Rnn)  # fmt: skip


class Svdf(Kernel):
    """The state is moved by one as the outputs are computed."""

    state_dtype = ""

    def fits(self, view: OpView) -> bool:
        dtype = view.input(0).dtype
        return (
            (view.input(1).dtype, view.output().dtype) == (dtype, dtype)
            and view.input(2).dtype == view.input(4).dtype == self.state_dtype
            and view.input(1).is_constant
        )

    def in_place(self, view: OpView) -> Mapping[int, int]:
        return {1: 4}

    def fields(self, view: OpView) -> dict[str, Field]:
        filters, memory = view.input(2).shape
        batch, features = view.input(0).shape
        return {
            "batch": batch,
            "features": features,
            "units": filters // view.params.rank,
            "rank": view.params.rank,
            "memory": memory,
            **clamp_fields(view, view.params.clamp),
        }

    def bias(self, view: OpView, dtype: str) -> Constant | Input:
        return Input(3) if view.optional(3) is not None else _zeros(view.output().shape[1], dtype)


class SvdfFloat(Svdf):
    state_dtype = "float32"

    def call(self, view: OpView) -> Call:
        return Call(
            "svdf_float32_shape",
            self.fields(view),
            (Input(0), Input(1), Input(2), self.bias(view, "float32"), Input(4), Output(0),
             Output(1)),
        )  # fmt: skip


class SvdfInteger(Svdf):
    """int8 with a state of int16."""

    state_dtype = "int16"

    def call(self, view: OpView) -> Call:
        first, second = svdf_multipliers(view)
        scaling: dict[str, Field] = {
            "input_zero_point": view.input(0).zero_point,
            "output_zero_point": view.output().zero_point,
            "feature_multiplier": first[0],
            "feature_shift": first[1],
            "output_multiplier": second[0],
            "output_shift": second[1],
        }
        return Call(
            "svdf_int8_shape",
            {**self.fields(view), **scaling},
            (Input(0), Input(1), Input(2), self.bias(view, "int32"), Input(4), Output(0),
             Output(1)),
        )  # fmt: skip


for _cls, _dtype in ((SvdfFloat, "float32"), (SvdfInteger, "int8")):
    kernel("svdf", target="reference", name=f"svdf_{_dtype}__reference", source=SOURCE,
           dtypes=(_dtype,))(_cls)  # fmt: skip


def _zeros(count: int, dtype: str) -> Constant:
    return Constant(np.zeros(count, dtype), "bias")


def _stacked(tensors: Sequence[Tensor | None], like: Tensor) -> np.ndarray:
    """One after the other, zeros where one is absent."""
    rows = []
    for tensor in tensors:
        if tensor is None or tensor.data is None:
            rows.append(np.zeros(like.shape, like.dtype))
        else:
            rows.append(tensor.data)
    return np.concatenate([row.reshape(-1) for row in rows])


class Lstm(Kernel):
    """Weights of the gates stand one after the other; the states are updated in place."""

    dtypes_of_states: tuple[str, str] = ("", "")

    def fits(self, view: OpView) -> bool:
        constants = (t for i, t in enumerate(view.inputs) if i not in (0, HIDDEN, CELL))
        return (
            (view.input(HIDDEN).dtype, view.input(CELL).dtype) == self.dtypes_of_states
            and view.output().dtype == view.input(0).dtype
            and all(t is None or t.is_constant for t in constants)
        )

    def in_place(self, view: OpView) -> Mapping[int, tuple[int, ...]]:
        return {1: (HIDDEN,), 2: (CELL,)}

    def fields(self, view: OpView) -> dict[str, Field]:
        has_input_gate = view.optional(INPUT_WEIGHTS) is not None
        return {
            **sequence_fields(view),
            "cells": view.input(RECURRENT_WEIGHTS + 3).shape[0],
            "has_input_gate": int(has_input_gate),
        }

    def weights(self, view: OpView) -> tuple[Constant, Constant]:
        """Of x and of the hidden state, without the input gate where it has none."""
        first = 0 if view.optional(INPUT_WEIGHTS) is not None else 1
        groups = []
        for start in (INPUT_WEIGHTS, RECURRENT_WEIGHTS):
            tensors = [view.optional(start + gate) for gate in range(first, 4)]
            groups.append(Constant(_stacked(tensors, view.input(start + 3)), "weights"))
        return groups[0], groups[1]


class LstmFloat(Lstm):
    """With peepholes, norms and projection, each where the operator has them."""

    dtypes_of_states = ("float32", "float32")

    def call(self, view: OpView) -> Call:
        params = view.params
        cells = view.input(RECURRENT_WEIGHTS + 3).shape[0]
        bias = view.input(BIASES + 3)
        has = {
            "has_peepholes": view.optional(PEEPHOLES + 2) is not None,
            "has_norms": view.optional(NORMS + 3) is not None,
            "has_projection": view.optional(PROJECTION) is not None,
        }
        fields: dict[str, Field] = {
            **self.fields(view),
            **{name: int(value) for name, value in has.items()},
            "activation": ACTIVATIONS.index(params.activation),
            "cell_clip": params.cell_clip if params.cell_clip > 0 else float("inf"),
            "projection_clip": (
                params.projection_clip if params.projection_clip > 0 else float("inf")
            ),
        }
        groups = {
            "has_peepholes": [view.optional(PEEPHOLES + gate) for gate in range(3)],
            "has_norms": [view.optional(NORMS + gate) for gate in range(4)],
        }
        extras = [
            Constant(_stacked(tensors, bias), "weights") if has[name] else _zeros(1, "float32")
            for name, tensors in groups.items()
        ]
        biases = Constant(_stacked([view.optional(BIASES + g) for g in range(4)], bias), "bias")
        return Call(
            "lstm_float32_shape",
            fields,
            (Input(0), *self.weights(view), biases, *extras, *self.projection(view),
             Input(HIDDEN), Input(CELL), Scratch(4 * 4 * cells),
             Output(0), Output(1), Output(2)),
        )  # fmt: skip

    def projection(self, view: OpView) -> tuple[Constant | Input, Constant | Input]:
        if view.optional(PROJECTION) is None:
            return _zeros(1, "float32"), _zeros(1, "float32")
        if view.optional(PROJECTION_BIAS) is None:
            return Input(PROJECTION), _zeros(view.output().shape[2], "float32")
        return Input(PROJECTION), Input(PROJECTION_BIAS)


class LstmInteger(Lstm):
    """int8 with cells of int16, as Keras' layers become."""

    dtypes_of_states = ("int8", "int16")

    def fits(self, view: OpView) -> bool:
        plain = all(
            view.optional(i) is None
            for i in (*range(PEEPHOLES, BIASES), PROJECTION, *range(NORMS, NORMS + 4))
        )
        return super().fits(view) and plain and -15 <= cell_exponent(view.input(CELL)) <= -9

    def call(self, view: OpView) -> Call:
        cells = view.input(RECURRENT_WEIGHTS + 3).shape[0]
        first = 0 if view.optional(INPUT_WEIGHTS) is not None else 1
        gates = range(first, len(GATES))
        pairs = [pair for gate in gates for pair in gate_multipliers(view, gate)]
        biases = np.concatenate([b for gate in gates for b in gate_biases(view, gate)])
        exponent = cell_exponent(view.input(CELL))
        multiplier, shift = hidden_multiplier(view)
        fields: dict[str, Field] = {
            **self.fields(view),
            "multiplier": tuple(pair[0] for pair in pairs),
            "shift": tuple(pair[1] for pair in pairs),
            "cell_exponent": exponent,
            "cell_clip": cell_clip_steps(view) or 32768,
            "hidden_multiplier": multiplier,
            "hidden_shift": shift,
            "hidden_zero_point": view.params.hidden_zero_point,
        }
        return Call(
            "lstm_int8_shape",
            fields,
            (Input(0), *self.weights(view), Constant(biases, "bias"), Input(HIDDEN), Input(CELL),
             Scratch(2 * 4 * cells), Output(0), Output(1), Output(2)),
        )  # fmt: skip


for _lstm, _dtype in ((LstmFloat, "float32"), (LstmInteger, "int8")):
    kernel("lstm", target="reference", name=f"lstm_{_dtype}__reference", source=SOURCE,
           dtypes=(_dtype,))(_lstm)  # fmt: skip
