"""RNN, GRU and LSTM: the product with the input weights for all steps at once, then the steps."""

from __future__ import annotations

import math

import numpy as np

from compiler.errors import UnsupportedError
from compiler.importers.onnx_model.node import Node, reads
from compiler.operators.matrix import FullyConnectedParams
from compiler.operators.movement import SliceParams
from compiler.operators.sequence import GATES, RecurrentParams

ACTIVATIONS = {"Sigmoid": "logistic", "Tanh": "tanh", "Relu": "relu"}
DEFAULTS = {
    "rnn": ("Tanh",), "gru": ("Sigmoid", "Tanh"), "lstm": ("Sigmoid", "Tanh", "Tanh"),
}  # fmt: skip


@reads("RNN", "GRU", "LSTM")
def recurrent(node: Node) -> tuple[str, ...]:
    """Inputs X, W, R, B, sequence lengths, first h, and of an LSTM first c and P."""
    build, cell = node.build, node.kind.lower()
    if node.has(4):
        _refuse_short_sequences(node)
    if node.attribute("input_forget", 0):
        raise UnsupportedError("input_forget=1")
    batch_first = bool(node.attribute("layout", 0))
    x = build.transpose(node.input(), (1, 0, 2)) if batch_first else node.input()
    direction = node.attribute("direction", "forward")
    runs = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}[direction]
    results = [_run(node, cell, x, i, reverse) for i, reverse in enumerate(runs)]
    steps, batch, hidden = build.shape(results[0][0])
    ys = [build.reshape(y, (steps, 1, batch, hidden)) for y, *_ in results]
    finals = [
        [_row(node, result[0], 0 if reverse else steps - 1) for result, reverse in
         zip(results, runs, strict=True)],
        [build.reshape(result[1], (1, batch, hidden)) for result in results if len(result) > 1],
    ]  # fmt: skip
    outputs = [build.concat(ys, 1), *(build.concat(part, 0) for part in finals if part)]
    if batch_first:
        outputs = [build.transpose(outputs[0], (2, 0, 1, 3)),
                   *(build.transpose(last, (1, 0, 2)) for last in outputs[1:])]  # fmt: skip
    return tuple(outputs)


def _refuse_short_sequences(node: Node) -> None:
    lengths = node.integers_at(4, "sequence lengths")
    steps = node.shape()[1 if node.attribute("layout", 0) else 0]
    if any(length != steps for length in lengths):
        raise UnsupportedError("sequences shorter than the input")


def _run(node: Node, cell: str, x: str, index: int, reverse: bool) -> tuple[str, ...]:
    """One direction: y (T,N,H), and of an LSTM the last cell (N,H)."""
    build, gates = node.build, GATES[cell]
    weight, inner = _row(node, node.input(1), index, drop=True), _row(
        node, node.input(2), index, drop=True
    )
    hidden = build.shape(inner)[1]
    params = RecurrentParams(
        cell,
        _activations(node, cell, index),
        reverse,
        float(node.attribute("clip", math.inf)) or math.inf,
        bool(node.attribute("linear_before_reset", 0)),
    )
    bias, candidate = _biases(node, index, gates * hidden, params.linear_before_reset)
    projected = build.emit(
        "fully_connected", x, weight, *bias, params=FullyConnectedParams(keep_dims=True)
    )
    _, batch, _ = build.shape(projected)
    first = _state(node, 5, index, (batch, hidden))
    inputs = [projected, inner, first]
    if cell == "lstm":
        inputs.append(_state(node, 6, index, (batch, hidden)))
        if node.has(7):
            inputs.append(_row(node, node.input(7), index, drop=True))
    if candidate:
        inputs += ["", "", candidate]
    return build.emit_all("recurrent", inputs, params)


def _activations(node: Node, cell: str, index: int) -> tuple[str, ...]:
    given = [name.decode() if isinstance(name, bytes) else str(name)
             for name in node.attribute("activations", [])]  # fmt: skip
    size = len(DEFAULTS[cell])
    names = given[index * size : (index + 1) * size] or DEFAULTS[cell]
    for name in names:
        if name not in ACTIVATIONS:
            raise UnsupportedError(f"activation '{name}'; {', '.join(ACTIVATIONS)} are known")
    return tuple(ACTIVATIONS[name] for name in names)


def _biases(node: Node, index: int, size: int, separate: bool) -> tuple[tuple[str, ...], str]:
    """The sum of both biases, without the recurrent one of the candidate if that is ``separate``,
    which is then the second."""
    if not node.has(3):
        return (), ""
    build = node.build
    both = _row(node, node.input(3), index, drop=True)
    outer, inner = _range(node, both, 0, size), _range(node, both, size, 2 * size)
    if not separate:
        return (_plus(node, outer, inner),), ""
    third = size // 3
    gates = _plus(node, _range(node, outer, 0, 2 * third), _range(node, inner, 0, 2 * third))
    candidate = _range(node, outer, 2 * third, size)
    return (build.concat([gates, candidate], 0),), _range(node, inner, 2 * third, size)


def _plus(node: Node, a: str, b: str) -> str:
    left, right = node.build.data(a), node.build.data(b)
    if left is not None and right is not None:
        return node.build.constant(left + right, "bias")
    return node.build.emit("add", a, b)


def _range(node: Node, name: str, begin: int, end: int) -> str:
    """Part of a vector."""
    data = node.build.data(name)
    if data is not None:
        return node.build.constant(data[begin:end], "part")
    params = SliceParams((begin,), (end - begin,), (1,))
    return node.build.emit("slice", name, params=params)


def _row(node: Node, name: str, index: int, drop: bool = False) -> str:
    """One element along the first axis, which stays 1 unless ``drop``."""
    build, shape = node.build, node.build.shape(name)
    data = build.data(name)
    if data is not None:
        return build.constant(data[index] if drop else data[index : index + 1], "part")
    if shape[0] > 1:
        begin = (index, *[0] * (len(shape) - 1))
        params = SliceParams(begin, (1, *shape[1:]), (1,) * len(shape))
        name = build.emit("slice", name, params=params)
    return build.reshape(name, shape[1:]) if drop else name


def _state(node: Node, position: int, index: int, shape: tuple[int, int]) -> str:
    """The first output or cell of one direction, zeros where it is absent."""
    if not node.has(position):
        return node.build.constant(np.zeros(shape, node.dtype()), "zeros")
    given = node.input(position)
    if node.attribute("layout", 0):
        given = node.build.transpose(given, (1, 0, 2))
    return _row(node, given, index, drop=True)

