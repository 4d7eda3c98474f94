"""Operators as ONNX has them, in float."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.exporters.qdq_file import QdqWriter, qdq_form
from compiler.exporters.tflite_file import NotInFormat
from compiler.graph import OpView, Tensor

_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def _input(writer: QdqWriter, view: OpView, index: int = 0) -> str:
    return writer.real(view.input(index))


def _channels_first(writer: QdqWriter, name: str) -> str:
    return writer.node("Transpose", [name], perm=_TO_NCHW)


def _channels_last(writer: QdqWriter, name: str) -> str:
    return writer.node("Transpose", [name], perm=_TO_NHWC)


def _clamped(writer: QdqWriter, view: OpView, name: str) -> str:
    return _clip(writer, name, *view.params.clamp)


def _clip(writer: QdqWriter, name: str, low: float, high: float) -> str:
    if low == -np.inf and high == np.inf:
        return name
    limits = [
        writer.constant(np.float32(limit)) if np.isfinite(limit) else "" for limit in (low, high)
    ]
    return writer.node("Clip", [name, *limits])


def _convolution(writer: QdqWriter, view: OpView, weight: np.ndarray, groups: int) -> str:
    """``weight`` is (O, C / groups, kh, kw)."""
    p, bias = view.params, view.optional(2)
    top, bottom, left, right = p.padding
    inputs = [_channels_first(writer, _input(writer, view))]
    inputs.append(writer.weight(_weight(view), weight, 0))
    if bias is not None:
        inputs.append(writer.bias(bias))
    made = writer.node(
        "Conv", inputs, strides=p.stride, dilations=p.dilation, group=groups,
        kernel_shape=weight.shape[2:], pads=(top, left, bottom, right),
    )  # fmt: skip
    return _clamped(writer, view, _channels_last(writer, made))


def _weight(view: OpView) -> Tensor:
    """The constant that the weights are, or are dequantized from."""
    tensor = view.input(1)
    producer = view.graph.producers().get(tensor.name)
    if producer is not None and producer.kind == "dequantize":
        tensor = view.graph.tensors[producer.inputs[0]]
    if tensor.data is None:
        raise NotInFormat("weights that are not constant")
    return tensor


def _data(tensor: Tensor) -> np.ndarray:
    assert tensor.data is not None
    return tensor.data


@qdq_form.of("conv2d")
def conv2d(writer: QdqWriter, view: OpView) -> str:
    return _convolution(writer, view, _data(_weight(view)).transpose(_TO_NCHW), view.params.groups)


@qdq_form.of("depthwise_conv2d")
def depthwise_conv2d(writer: QdqWriter, view: OpView) -> str:
    weight = _data(_weight(view)).transpose(3, 0, 1, 2)
    return _convolution(writer, view, weight, view.input(0).shape[3])


@qdq_form.of("fully_connected")
def fully_connected(writer: QdqWriter, view: OpView) -> str:
    weight = _weight(view)
    rows = writer.node(
        "Reshape", [_input(writer, view), writer.integers((-1, weight.shape[1]))]
    )
    inputs, bias = [rows, writer.weight(weight, _data(weight), 0)], view.optional(2)
    if bias is not None:
        inputs.append(writer.bias(bias))
    made = writer.node("Gemm", inputs, transB=1)
    shaped = writer.node("Reshape", [made, writer.integers(view.output().shape)])
    return _clamped(writer, view, shaped)


@qdq_form.of("add", "sub", "mul")
def arithmetic(writer: QdqWriter, view: OpView) -> str:
    inputs = [_input(writer, view, 0), _input(writer, view, 1)]
    return _clamped(writer, view, writer.node(view.op.kind.capitalize(), inputs))


@qdq_form.of("average_pool2d", "max_pool2d")
def pool(writer: QdqWriter, view: OpView) -> str:
    p = view.params
    top, bottom, left, right = p.padding
    kind = "MaxPool" if view.op.kind == "max_pool2d" else "AveragePool"
    more: dict[str, Any] = {"dilations": p.dilation}
    if kind == "AveragePool":
        if p.dilation != (1, 1):
            raise NotInFormat("an average pool that is dilated")
        more = {"count_include_pad": int(p.count_include_pad)}
    made = writer.node(
        kind, [_channels_first(writer, _input(writer, view))], kernel_shape=p.kernel,
        strides=p.stride, pads=(top, left, bottom, right), **more,
    )  # fmt: skip
    return _clamped(writer, view, _channels_last(writer, made))


@qdq_form.of("mean", "sum", "reduce_max", "reduce_min")
def reduce(writer: QdqWriter, view: OpView) -> str:
    kinds = {"mean": "ReduceMean", "sum": "ReduceSum", "reduce_max": "ReduceMax"}
    inputs = [_input(writer, view), writer.integers(view.params.axes)]
    kind = kinds.get(view.op.kind, "ReduceMin")
    return writer.node(kind, inputs, keepdims=int(view.params.keep_dims))


@qdq_form.of("reshape")
def reshape(writer: QdqWriter, view: OpView) -> str:
    return writer.node("Reshape", [_input(writer, view), writer.integers(view.output().shape)])


@qdq_form.of("transpose")
def transpose(writer: QdqWriter, view: OpView) -> str:
    return writer.node("Transpose", [_input(writer, view)], perm=view.params.permutation)


@qdq_form.of("pad")
def pad(writer: QdqWriter, view: OpView) -> str:
    p = view.params
    if p.mode == "symmetric":
        raise NotInFormat("padding by symmetric")
    inputs = [_input(writer, view), writer.integers((*p.before, *p.after))]
    inputs.append(writer.constant(np.float32(p.value)))
    return writer.node("Pad", inputs, mode=p.mode)


@qdq_form.of("slice")
def slice_(writer: QdqWriter, view: OpView) -> str:
    p = view.params
    least = np.iinfo(np.int64).min
    ends = []
    for begin, size, stride in zip(p.begin, p.size, p.stride, strict=True):
        end = begin + (size - 1) * stride + (1 if stride > 0 else -1)
        ends.append(least if end < 0 else end)
    parts = (p.begin, ends, range(len(p.begin)), p.stride)
    return writer.node("Slice", [_input(writer, view), *(writer.integers(list(v)) for v in parts)])


@qdq_form.of("concat")
def concat(writer: QdqWriter, view: OpView) -> str:
    inputs = [_input(writer, view, i) for i in range(len(view.op.inputs))]
    return writer.node("Concat", inputs, axis=view.params.axis)


@qdq_form.of("softmax")
def softmax(writer: QdqWriter, view: OpView) -> str:
    source = _input(writer, view)
    if view.params.beta != 1:
        source = writer.node("Mul", [source, writer.constant(np.float32(view.params.beta))])
    return writer.node("Softmax", [source], axis=view.params.axis)


@qdq_form.of("log_softmax")
def log_softmax(writer: QdqWriter, view: OpView) -> str:
    return writer.node("LogSoftmax", [_input(writer, view)], axis=view.params.axis)


@qdq_form.of("leaky_relu")
def leaky_relu(writer: QdqWriter, view: OpView) -> str:
    return writer.node("LeakyRelu", [_input(writer, view)], alpha=view.params.alpha)


@qdq_form.of("batch_matmul")
def batch_matmul(writer: QdqWriter, view: OpView) -> str:
    inputs = []
    for index, turned in enumerate((view.params.transpose_a, view.params.transpose_b)):
        name, rank = _input(writer, view, index), len(view.input(index).shape)
        order = (*range(rank - 2), rank - 1, rank - 2)
        inputs.append(writer.node("Transpose", [name], perm=order) if turned else name)
    return writer.node("MatMul", inputs)


@qdq_form.of("clamp")
def clamp(writer: QdqWriter, view: OpView) -> str:
    return _clip(writer, _input(writer, view), view.params.low, view.params.high)


@qdq_form.of("quantize", "requantize")
def same_values(writer: QdqWriter, view: OpView) -> str:
    return _input(writer, view)


@qdq_form.of("dequantize")
def dequantize(writer: QdqWriter, view: OpView) -> str:
    if view.input(0).quant is None:  # float16 weights
        return writer.node("Cast", [_input(writer, view)], to=1)
    return _input(writer, view)


def _plain(kind: str, name: str) -> None:
    @qdq_form.of(kind)
    def lower(writer: QdqWriter, view: OpView) -> str:
        return writer.node(name, [_input(writer, view, i) for i in range(len(view.op.inputs))])


for _kind, _name in (
    ("logistic", "Sigmoid"), ("tanh", "Tanh"), ("hard_swish", "HardSwish"), ("abs", "Abs"),
    ("prelu", "PRelu"), ("maximum", "Max"), ("minimum", "Min"), ("erf", "Erf"), ("neg", "Neg"),
    ("softplus", "Softplus"), ("softsign", "Softsign"), ("mish", "Mish"), ("sqrt", "Sqrt"),
    ("div", "Div"),
):  # fmt: skip
    _plain(_kind, _name)
