"""Recurrent layers over a sequence; what they carry on is in states that they update."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler import fixed_point_16
from compiler.graph import NO_CLAMP, OpView, Shape, Tensor
from compiler.numerics import (
    clamp_limits,
    multiply_quantized,
    quantize_multiplier,
    rounding_shift_right,
    saturate,
    wrap_int32,
)
from compiler.registry import classify, macs, params, reference, shape

Array = np.ndarray
Multiplier = tuple[int, int]

GATES = ("input", "forget", "cell", "output")
#: Inputs of an LSTM, by the index of the first of each group, which follow the order of GATES.
INPUT_WEIGHTS, RECURRENT_WEIGHTS, PEEPHOLES, BIASES, NORMS = 1, 5, 9, 12, 20
PROJECTION, PROJECTION_BIAS, HIDDEN, CELL = 16, 17, 18, 19


@params.of("lstm")
@dataclass(frozen=True)
class LstmParams:
    """Inputs, as TFLite's UNIDIRECTIONAL_SEQUENCE_LSTM has them (absent ones are ""):

    x (batch, time, features); weights of x (cells, features), of the hidden state (cells,
    outputs), per gate; peepholes (cells) of the input, forget and output gate; biases (cells) per
    gate; projection (outputs, cells), its bias; hidden state (batch, outputs); cell state (batch,
    cells); norms (cells) per gate. Outputs: y (batch, time, outputs), hidden and cell state.
    ``time_major``: x and y are (time, batch, ...). ``activation``: "tanh", "relu", "relu6",
    "sigmoid" or "none", of cells. Clips are 0 where there is none. Where quantized, the cell is
    int16 with a scale 2^n, and ``hidden_scale`` and ``hidden_zero_point`` are the output's.
    """

    time_major: bool = False
    activation: str = "tanh"
    cell_clip: float = 0.0
    projection_clip: float = 0.0
    hidden_scale: float = 0.0
    hidden_zero_point: int = 0


@params.of("rnn")
@dataclass(frozen=True)
class RnnParams:
    """Inputs x (batch, time, features), weights (units, features), recurrent weights (units,
    units), bias (units), state (batch, units); outputs y (batch, time, units), the state.

    ``time_major``: x and y are (time, batch, ...). ``activation`` as of an LSTM.
    """

    time_major: bool = False
    activation: str = "tanh"


@params.of("svdf")
@dataclass(frozen=True)
class SvdfParams:
    """Inputs x (batch, features), feature weights (filters, features), time weights (filters,
    memory), optional bias (units), state (batch, filters * memory); outputs y (batch, units), the
    state. A unit is the sum of ``rank`` filters, a filter a weighted sum of its last products.
    """

    rank: int = 1
    clamp: tuple[float, float] = NO_CLAMP


for _kind in ("lstm", "rnn", "svdf"):
    classify(_kind, "opaque")


def _sequence(view: OpView, units: int) -> Shape:
    return (*view.input(0).shape[:-1], units)


def _check(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(what)


@shape.of("lstm")
def _lstm_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, hidden, cell = view.input(0), view.input(HIDDEN), view.input(CELL)
    cells, outputs = view.input(RECURRENT_WEIGHTS + 3).shape
    batch = x.shape[1 if view.params.time_major else 0]
    _check(len(x.shape) == 3, f"x has {len(x.shape)} dimensions, not 3")
    _check(hidden.elements == batch * outputs, f"the hidden state is {list(hidden.shape)}")
    _check(cell.elements == batch * cells, f"the cell state is {list(cell.shape)}")
    _check(view.input(INPUT_WEIGHTS + 3).shape == (cells, x.shape[2]), "weights do not fit x")
    return [
        (_sequence(view, outputs), view.output().dtype),
        (hidden.shape, hidden.dtype),
        (cell.shape, cell.dtype),
    ]


@shape.of("rnn")
def _rnn_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, state = view.input(0), view.input(4)
    units = view.input(1).shape[0]
    _check(len(x.shape) == 3, f"x has {len(x.shape)} dimensions, not 3")
    batch = x.shape[1 if view.params.time_major else 0]
    _check(state.elements == batch * units, f"the state is {list(state.shape)}")
    return [(_sequence(view, units), view.output().dtype), (state.shape, state.dtype)]


@shape.of("svdf")
def _svdf_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, state = view.input(0), view.input(4)
    filters, memory = view.input(2).shape
    _check(not filters % view.params.rank, f"{filters} filters of rank {view.params.rank}")
    _check(view.input(1).shape == (filters, x.shape[1]), "feature weights do not fit x")
    _check(state.elements == x.shape[0] * filters * memory, f"the state is {list(state.shape)}")
    units = filters // view.params.rank
    return [((x.shape[0], units), view.output().dtype), (state.shape, state.dtype)]


@macs.of("lstm")
def _lstm_macs(view: OpView) -> int:
    steps = math.prod(view.input(0).shape[:2])
    weights = sum(t.elements for t in view.inputs[1:18] if t is not None and len(t.shape) == 2)
    return steps * weights


@macs.of("rnn")
def _rnn_macs(view: OpView) -> int:
    return math.prod(view.input(0).shape[:2]) * sum(view.input(i).elements for i in (1, 2))


@macs.of("svdf")
def _svdf_macs(view: OpView) -> int:
    return view.input(0).shape[0] * sum(view.input(i).elements for i in (1, 2))


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "none": lambda x: x, "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6),
    "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip
ACTIVATIONS = tuple(_ACTIVATIONS)


def _by_time(view: OpView, x: Array) -> Array:
    """(time, batch, ...)."""
    return x if view.params.time_major else x.swapaxes(0, 1)


@reference.of("rnn")
def _rnn(
    view: OpView, x: Array, weight: Array, recurrent: Array, bias: Array, h: Array
) -> tuple[Array, ...]:
    state = h.reshape(-1, weight.shape[0])
    function = _ACTIVATIONS[view.params.activation]
    steps = []
    for step in _by_time(view, x):
        state = function(step @ weight.T + state @ recurrent.T + bias).astype(np.float32)
        steps.append(state)
    y = _by_time(view, np.stack(steps))
    return np.ascontiguousarray(y), state.reshape(h.shape)


@reference.of("svdf")
def _svdf(
    view: OpView, x: Array, features: Array, times: Array, bias: Array | None, state: Array
) -> tuple[Array, ...]:
    filters, memory = times.shape
    units, output = filters // view.params.rank, view.output()
    history = state.reshape(len(x), filters, memory).copy()
    quantized = output.quant is not None
    if quantized:
        first, second = svdf_multipliers(view)
        centred = x.astype(np.int64) - view.input(0).zero_point
        product = multiply_quantized(centred @ features.T.astype(np.int64), *first)
        history[..., -1] = saturate(product, "int16")
        history_64, times_64 = history.astype(np.int64), times.astype(np.int64)
        total = (history_64 * times_64).sum(axis=2)
    else:
        history[..., -1] = x @ features.T
        total = (history * times).sum(axis=2)
    total = total.reshape(len(x), units, view.params.rank).sum(axis=2)
    total = total if bias is None else total + bias
    moved = np.concatenate([history[..., 1:], np.zeros_like(history[..., :1])], axis=2)
    if quantized:
        value = multiply_quantized(wrap_int32(total), *second) + output.zero_point
        y = np.clip(value, *clamp_limits(output, view.params.clamp)).astype(output.dtype)
    else:
        y = np.clip(total, *view.params.clamp).astype(np.float32)
    return y, moved.reshape(state.shape)


def svdf_multipliers(view: OpView) -> tuple[Multiplier, Multiplier]:
    """Of the products with features into the state, and of those with times into the output."""
    x, features, times, state = (np.float32(view.input(i).scale) for i in (0, 1, 2, 4))
    output = np.float32(view.output().scale)
    first, second = float(x * features / state), float(state * times / output)
    return quantize_multiplier(first), quantize_multiplier(second)


@reference.of("lstm")
def _lstm(view: OpView, *arrays: Array | None) -> tuple[Array, ...]:
    x, hidden, cell = arrays[0], arrays[HIDDEN], arrays[CELL]
    assert x is not None and hidden is not None and cell is not None
    cells, outputs = view.input(RECURRENT_WEIGHTS + 3).shape
    step = _step_integer if view.output().quant is not None else _step_real
    h, c = hidden.reshape(-1, outputs), cell.reshape(-1, cells)
    steps = []
    for each in _by_time(view, x):
        h, c = step(view, arrays, each, h, c)
        steps.append(h)
    y = np.ascontiguousarray(_by_time(view, np.stack(steps)))
    return y, h.reshape(hidden.shape), c.reshape(cell.shape)


def _normalized(values: Array) -> Array:
    centred = values - values.mean(axis=1, keepdims=True)
    deviation = (centred**2).mean(axis=1, keepdims=True)
    return np.asarray(centred / np.sqrt(deviation + 1e-8))


def _step_real(
    view: OpView, arrays: tuple[Array | None, ...], x: Array, h: Array, c: Array
) -> tuple[Array, Array]:
    p = view.params

    def weight(index: int) -> Array | None:
        return arrays[index] if index < len(arrays) else None

    def gate(index: int, peek: Array | None) -> Array:
        from_x, from_h = arrays[INPUT_WEIGHTS + index], arrays[RECURRENT_WEIGHTS + index]
        bias, norm = arrays[BIASES + index], weight(NORMS + index)
        peephole = weight(PEEPHOLES + {0: 0, 1: 1, 3: 2}.get(index, len(arrays)))
        assert from_x is not None and from_h is not None and bias is not None
        total = x @ from_x.T + h @ from_h.T
        if peephole is not None and peek is not None:
            total = total + peek * peephole
        if norm is not None:
            total = _normalized(total) * norm
        total = total + bias
        function = _ACTIVATIONS[p.activation if index == 2 else "sigmoid"]
        return function(total)

    forget, change = gate(1, c), gate(2, None)
    taken = 1 - forget if arrays[INPUT_WEIGHTS] is None else gate(0, c)
    c = forget * c + taken * change
    if p.cell_clip > 0:
        c = np.clip(c, -p.cell_clip, p.cell_clip)
    c = c.astype(np.float32)
    h = gate(3, c) * _ACTIVATIONS[p.activation](c)
    projection, bias = arrays[PROJECTION], arrays[PROJECTION_BIAS]
    if projection is not None:
        h = h @ projection.T if bias is None else h @ projection.T + bias
        if p.projection_clip > 0:
            h = np.clip(h, -p.projection_clip, p.projection_clip)
    return h.astype(np.float32), c


GATE_BITS = 12  # fraction bits of what goes into a gate's function


def gate_multipliers(view: OpView, gate: int) -> tuple[Multiplier, Multiplier]:
    """Of the sums over x and over the hidden state, in TFLite's float32 arithmetic."""
    unit = np.float32(2.0**-GATE_BITS)
    pairs = ((0, INPUT_WEIGHTS), (HIDDEN, RECURRENT_WEIGHTS))
    result = []
    for source, weights in pairs:
        product = np.float32(view.input(weights + gate).scale) * np.float32(
            view.input(source).scale
        )
        result.append(quantize_multiplier(float(product / unit)))
    return result[0], result[1]


def gate_biases(view: OpView, gate: int) -> tuple[Array, Array]:
    """What is added to the sums over x and over the hidden state, zero points folded, int32."""
    values = []
    for source, weights in ((0, INPUT_WEIGHTS), (HIDDEN, RECURRENT_WEIGHTS)):
        data = view.input(weights + gate).data
        assert data is not None
        values.append(-view.input(source).zero_point * data.astype(np.int64).sum(axis=1))
    bias = view.optional(BIASES + gate)
    if bias is not None and bias.data is not None:
        values[0] = values[0] + bias.data
    return values[0].astype(np.int32), values[1].astype(np.int32)


def hidden_multiplier(view: OpView) -> Multiplier:
    """Of output gate times tanh(cell), both with 15 fraction bits."""
    scale = np.float32(2.0**-15) / np.float32(view.params.hidden_scale) * np.float32(2.0**-15)
    return quantize_multiplier(float(scale))


def cell_exponent(cell: Tensor) -> int:
    """n where the cell state's scale is 2^n. Raises ValueError where it is none."""
    exponent = round(math.log2(cell.scale))
    _check(math.isclose(cell.scale, 2.0**exponent, rel_tol=1e-3), "the cell's scale is no 2^n")
    return exponent


def _step_integer(
    view: OpView, arrays: tuple[Array | None, ...], x: Array, h: Array, c: Array
) -> tuple[Array, Array]:
    exponent = cell_exponent(view.input(CELL))
    previous = c.astype(np.int64)

    def gate(index: int) -> Array:
        total = np.zeros(previous.shape, np.int64)
        weights = (INPUT_WEIGHTS + index, RECURRENT_WEIGHTS + index)
        multipliers, biases = gate_multipliers(view, index), gate_biases(view, index)
        for each, w, multiplier, bias in zip((x, h), weights, multipliers, biases, strict=True):
            data = arrays[w]
            assert data is not None
            sums = each.astype(np.int64) @ data.astype(np.int64).T + bias
            scaled = multiply_quantized(wrap_int32(sums), *multiplier)
            total = np.clip(total + scaled, -32768, 32767)
        return fixed_point_16.tanh(total, 3) if index == 2 else fixed_point_16.logistic(total)

    forget, change = gate(1), gate(2)
    taken = 32767 - forget if arrays[INPUT_WEIGHTS] is None else gate(0)
    kept = rounding_shift_right(forget * previous, 15)
    added = rounding_shift_right(taken * change, 30 + exponent)
    cell = np.clip(kept + added, -32768, 32767)
    clip = cell_clip_steps(view)
    cell = np.clip(cell, -clip, clip) if clip else cell
    product = gate(3) * fixed_point_16.tanh(cell, 15 + exponent)
    value = multiply_quantized(product, *hidden_multiplier(view))
    result = saturate(value + view.params.hidden_zero_point, "int8")
    return result, cell.astype(np.int16)


def cell_clip_steps(view: OpView) -> int:
    """The clip of cells in integers, 0 where there is none."""
    if view.params.cell_clip <= 0:
        return 0
    return int(min(view.params.cell_clip / view.input(CELL).scale, 32767.0))
