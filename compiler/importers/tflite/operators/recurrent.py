"""Recurrent layers: their variable tensors become states that the operator updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Tensor
from compiler.importers.tflite.node import Node, reads
from compiler.importers.tflite.operators.weights import float_weights
from compiler.importers.tflite.schema import names_of
from compiler.operators.movement import ConcatParams, ReshapeParams, SliceParams
from compiler.operators.recurrent import (
    BIASES,
    CELL,
    HIDDEN,
    INPUT_WEIGHTS,
    NORMS,
    PEEPHOLES,
    PROJECTION,
    LstmParams,
    RnnParams,
    SvdfParams,
)

_ACTIVATIONS = {"NONE": "none", "RELU": "relu", "RELU6": "relu6", "TANH": "tanh"}


def _activation(number: int) -> str:
    name = names_of("ActivationFunctionType").get(number, f"activation {number}")
    if name not in _ACTIVATIONS:
        raise UnsupportedError(f"fused activation {name} is not supported")
    return _ACTIVATIONS[name]


def _state(node: Node, index: int) -> Tensor:
    tensor = node.input(index)
    if not tensor.is_state:
        raise ModelError(f"its state '{tensor.name}' is no variable tensor; convert it again")
    return tensor


def _weights(node: Node, indices: Sequence[int]) -> list[Tensor | None]:
    """Constants; integers of a float operator as floats."""
    result: list[Tensor | None] = []
    for index in indices:
        tensor = node.optional(index)
        if tensor is not None and tensor.data is None:
            raise UnsupportedError(f"its weights ('{tensor.name}') are not constant")
        result.append(None if tensor is None else float_weights(node, index))
    return result


def _emit_sequence(
    node: Node, kind: str, inputs: Sequence[Tensor | None], params: Any, states: Sequence[Tensor]
) -> None:
    """The operator over (batch, time, features), also where the file has no time."""
    x = inputs[0]
    assert x is not None
    if len(x.shape) == 3:
        node.update(kind, inputs, params, states)
        return
    batch, features = x.shape
    longer = node.inner("reshape", (x,), ReshapeParams((batch, 1, features)))
    y = node.update_inner(kind, (longer, *inputs[1:]), params, states, node.outputs[0])
    node.emit("reshape", (y,), ReshapeParams((batch, y.shape[2])))


@reads("SVDF")
def svdf(node: Node) -> None:
    options = node.options("SVDFOptions")
    weights = _weights(node, (1, 2, 3))
    state = _state(node, 4)
    activation = options.FusedActivationFunction()
    name = names_of("ActivationFunctionType").get(activation)
    clamps = {"NONE": SvdfParams().clamp, "RELU": (0.0, float("inf")), "RELU6": (0.0, 6.0)}
    if name not in clamps:
        raise UnsupportedError(f"fused activation {name} is not supported")
    is_integer = node.outputs[0].quant is not None  # whose only clamp is the type's range
    clamp = clamps["NONE"] if is_integer else clamps[name]
    params = SvdfParams(options.Rank(), clamp)
    node.update("svdf", (node.input(0), *weights, state), params, (state,))


@reads("UNIDIRECTIONAL_SEQUENCE_RNN", "RNN")
def rnn(node: Node) -> None:
    is_sequence = node.kind != "RNN"
    options = node.options("SequenceRNNOptions" if is_sequence else "RNNOptions")
    time_major = bool(options.TimeMajor()) if is_sequence else False
    state = _state(node, 4)
    params = RnnParams(time_major, _activation(options.FusedActivationFunction()))
    inputs = (node.input(0), *_weights(node, (1, 2, 3)), state)
    _emit_sequence(node, "rnn", inputs, params, (state,))


@reads("UNIDIRECTIONAL_SEQUENCE_LSTM", "LSTM")
def lstm(node: Node) -> None:
    is_sequence = node.kind != "LSTM"
    options = node.options("UnidirectionalSequenceLSTMOptions" if is_sequence else "LSTMOptions")
    if len(node.inputs) not in (20, 24):
        raise UnsupportedError(f"an LSTM of {len(node.inputs)} inputs is not supported")
    hidden, cell = _state(node, HIDDEN), _state(node, CELL)
    indices = [*range(INPUT_WEIGHTS, HIDDEN), *range(NORMS, len(node.inputs))]
    weights = _weights(node, indices)
    inputs = (node.input(0), *weights[: HIDDEN - 1], hidden, cell, *weights[HIDDEN - 1 :])
    scale, zero_point = 0.0, 0
    if node.outputs[0].quant is not None:
        _require_plain_integers(node)
        scale, zero_point = _hidden_scale(node)
    params = LstmParams(
        time_major=bool(options.TimeMajor()) if is_sequence else False,
        activation=_activation(options.FusedActivationFunction()),
        cell_clip=float(options.CellClip()),
        projection_clip=float(options.ProjClip()),
        hidden_scale=scale,
        hidden_zero_point=zero_point,
    )
    _emit_sequence(node, "lstm", inputs, params, (hidden, cell))


def _require_plain_integers(node: Node) -> None:
    """Integer LSTMs are the ones that Keras makes."""
    extra = (*range(PEEPHOLES, BIASES), PROJECTION, *range(NORMS, NORMS + 4))
    if any(node.optional(index) is not None for index in extra):
        raise UnsupportedError("an int8 LSTM with peepholes, projection or norms is not supported")
    if node.input(CELL).dtype != "int16" or node.input(0).dtype != "int8":
        raise UnsupportedError("a quantized LSTM is int8 with cells of int16, others are not")


def _hidden_scale(node: Node) -> tuple[float, int]:
    """What the fifth intermediate tensor says, which the output has too."""
    tensors = node.operator.intermediates
    quant = tensors[4] if len(tensors) > 4 else node.outputs[0].quant
    if quant is None:
        raise ModelError("the hidden state has no scale; convert it again")
    return quant.scale[0], quant.zero_point[0]


#: Where the inputs of each direction stand: weights and biases, hidden state, cell state.
_DIRECTIONS = (("forward", 1, 35, 36), ("backward", 18, 37, 38))
_PER_DIRECTION = 17


@reads("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(node: Node) -> None:
    """Two float LSTMs, one from the end to the beginning."""
    options, x = node.options("BidirectionalSequenceLSTMOptions"), node.input(0)
    if any(node.optional(index) is not None for index in range(39, len(node.inputs))):
        raise UnsupportedError("auxiliary inputs are not supported")
    if x.dtype != "float32" or len(x.shape) != 3:
        raise UnsupportedError("only float sequences are supported")
    time = 0 if options.TimeMajor() else 1
    params = LstmParams(
        bool(options.TimeMajor()), _activation(options.FusedActivationFunction()),
        float(options.CellClip()), float(options.ProjClip()),
    )  # fmt: skip
    results = []
    for name, first, hidden, cell in _DIRECTIONS:
        states = (_state(node, hidden), _state(node, cell))
        weights = _weights(node, range(first, first + _PER_DIRECTION))
        turned = x if name == "forward" else _turned(node, x, time)
        y = node.update_inner("lstm", (turned, *weights, *states), params, states, x)
        results.append(y if name == "forward" else _turned(node, y, time))
    if options.MergeOutputs():
        node.emit("concat", results, ConcatParams(2))
        return
    for y, output in zip(results, node.outputs, strict=True):
        node.build.add("reshape", (y,), ReshapeParams(y.shape), (output,))


def _turned(node: Node, x: Tensor, axis: int) -> Tensor:
    """The other way round along ``axis``."""
    begin = tuple(size - 1 if i == axis else 0 for i, size in enumerate(x.shape))
    stride = tuple(-1 if i == axis else 1 for i in range(len(x.shape)))
    return node.inner("slice", (x,), SliceParams(begin, x.shape, stride))
