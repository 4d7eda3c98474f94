"""Operators as TFLite has them; what it has no attribute for becomes an operator of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.exporters.tflite_file import NotInFormat, TfliteWriter, tflite_form
from compiler.graph import NO_CLAMP, OpView, Tensor
from compiler.importers.tflite.operators.convolution import same_padding
from compiler.importers.tflite.schema import schema
from compiler.numerics import quantize_array

_ACTIVATIONS = {
    NO_CLAMP: "NONE", (0.0, np.inf): "RELU", (0.0, 6.0): "RELU6", (-1.0, 1.0): "RELU_N1_TO_1",
}  # fmt: skip


def _activation(view: OpView) -> str | None:
    """The fused activation that means the operator's clamp; None where there is none."""
    low, high = view.params.clamp
    output = view.output()
    if output.quant is not None:
        # A limit that the integers cannot pass is none.
        info = np.iinfo(output.dtype)
        reach = [(end - output.zero_point) * output.scale for end in (info.min, info.max)]
        for known in _ACTIVATIONS:
            limits = (max(known[0], reach[0]), min(known[1], reach[1]))
            if limits == (max(low, reach[0]), min(high, reach[1])):
                return _ACTIVATIONS[known]
    return _ACTIVATIONS.get((low, high))


def _finish(writer: TfliteWriter, view: OpView) -> tuple[int, int]:
    """(tensor to write, fused activation); any other clamp is left to `_clamp_after`."""
    name = _activation(view)
    kind = schema().ActivationFunctionType
    if name is not None:
        return writer.of(view.output().name), getattr(kind, name)
    return writer.inner(view.output(), "unclamped"), kind.NONE


def _clamp_after(writer: TfliteWriter, view: OpView, made: int) -> None:
    """MAXIMUM and MINIMUM with constants, where ``made`` is not the output itself."""
    output = view.output()
    if made != writer.of(output.name):
        _clamp(writer, made, output, *view.params.clamp)


def _clamp(writer: TfliteWriter, source: int, output: Tensor, low: float, high: float) -> None:
    steps = [("MAXIMUM", low), ("MINIMUM", high)]
    steps = [step for step in steps if np.isfinite(step[1])]
    for number, (kind, limit) in enumerate(steps):
        last = number == len(steps) - 1
        target = writer.of(output.name) if last else writer.inner(output, f"clamp{number}")
        writer.op(kind, [source, _constant(writer, output, limit)], [target], "MaximumMinimum")
        source = target


def _constant(writer: TfliteWriter, like: Tensor, value: float) -> int:
    """A scalar in the type and scale of ``like``."""
    data = np.array([value], np.float32)
    if like.quant is not None:
        data = quantize_array(data, like.scale, like.zero_point, like.dtype)
    return writer.add(Tensor(f"{like.name}/limit", (1,), like.dtype, like.quant, data))


def _padded(
    writer: TfliteWriter, view: OpView, kernel: tuple[int, int]
) -> tuple[int, int]:
    """(input, padding scheme): an explicit PAD stands before what neither scheme means."""
    p, x = view.params, view.input(0)
    same: list[int] = []
    for axis in (0, 1):
        same += same_padding(x.shape[1 + axis], kernel[axis], p.stride[axis], p.dilation[axis])
    scheme = schema().Padding
    if not any(p.padding):
        return writer.of(x.name), scheme.VALID
    if tuple(same) == tuple(p.padding):
        return writer.of(x.name), scheme.SAME
    if not view.op.kind.endswith("conv2d"):
        raise NotInFormat(f"padding {list(p.padding)} of a pool")
    top, bottom, left, right = p.padding
    shape = (x.shape[0], x.shape[1] + top + bottom, x.shape[2] + left + right, x.shape[3])
    target = writer.inner(x, f"padded for {view.op.name}", shape)
    edges = writer.integers(f"{view.op.name}/edges", [[0, 0], [top, bottom], [left, right], [0, 0]])
    writer.op("PAD", [writer.of(x.name), edges], [target], "Pad", 2)
    return target, scheme.VALID


def _weights(writer: TfliteWriter, view: OpView) -> list[int]:
    return [writer.of(name) for name in (*view.op.inputs[1:], "")[:2]]


def _convolution(writer: TfliteWriter, view: OpView, name: str, table: str, **more: Any) -> None:
    weight, p = view.input(1), view.params
    source, padding = _padded(writer, view, (weight.shape[1], weight.shape[2]))
    target, activation = _finish(writer, view)
    writer.op(
        name, [source, *_weights(writer, view)], [target], table, _version(view, 3, 4),
        padding=padding, strideH=p.stride[0], strideW=p.stride[1],
        dilationHFactor=p.dilation[0], dilationWFactor=p.dilation[1],
        fusedActivationFunction=activation, **more,
    )  # fmt: skip
    _clamp_after(writer, view, target)


def _version(view: OpView, int8: int, int16: int) -> int:
    """The least version of the operator that has the type of its input."""
    return {"int8": int8, "int16": int16}.get(view.input(0).dtype, 1)


@tflite_form.of("conv2d")
def conv2d(writer: TfliteWriter, view: OpView) -> None:
    _convolution(writer, view, "CONV_2D", "Conv2D")


@tflite_form.of("depthwise_conv2d")
def depthwise_conv2d(writer: TfliteWriter, view: OpView) -> None:
    multiplier = view.input(1).shape[3] // view.input(0).shape[3]
    _convolution(
        writer, view, "DEPTHWISE_CONV_2D", "DepthwiseConv2D", depthMultiplier=multiplier
    )


@tflite_form.of("fully_connected")
def fully_connected(writer: TfliteWriter, view: OpView) -> None:
    target, activation = _finish(writer, view)
    inputs = [writer.of(view.op.inputs[0]), *_weights(writer, view)]
    writer.op(
        "FULLY_CONNECTED", inputs, [target], "FullyConnected", _version(view, 4, 7),
        keepNumDims=view.params.keep_dims, fusedActivationFunction=activation,
    )  # fmt: skip
    _clamp_after(writer, view, target)


def _simple(
    writer: TfliteWriter, view: OpView, name: str, table: str | None = None, version: int = 1,
    **fields: Any,
) -> None:  # fmt: skip
    inputs = [writer.of(n) for n in view.op.inputs]
    writer.op(name, inputs, [writer.of(n) for n in view.op.outputs], table, version, **fields)


@tflite_form.of("add", "sub", "mul")
def arithmetic(writer: TfliteWriter, view: OpView) -> None:
    target, activation = _finish(writer, view)
    fields: dict[str, Any] = {"fusedActivationFunction": activation}
    if view.op.kind != "mul":
        fields["potScaleInt16"] = False
    inputs = [writer.of(n) for n in view.op.inputs]
    table, version = view.op.kind.capitalize(), _version(view, 2, 4)
    writer.op(view.op.kind.upper(), inputs, [target], table, version, **fields)
    _clamp_after(writer, view, target)


@tflite_form.of("average_pool2d", "max_pool2d")
def pool(writer: TfliteWriter, view: OpView) -> None:
    p = view.params
    if (p.count_include_pad and any(p.padding)) or p.dilation != (1, 1):
        raise NotInFormat("a pool that counts padding, or is dilated")
    source, padding = _padded(writer, view, p.kernel)
    target, activation = _finish(writer, view)
    writer.op(
        f"{view.op.kind.removesuffix('2d').upper()}_2D", [source], [target], "Pool2D",
        _version(view, 2, 3), padding=padding, strideH=p.stride[0], strideW=p.stride[1],
        filterHeight=p.kernel[0], filterWidth=p.kernel[1], fusedActivationFunction=activation,
    )  # fmt: skip
    _clamp_after(writer, view, target)


@tflite_form.of("mean", "sum", "reduce_max", "reduce_min")
def reduce(writer: TfliteWriter, view: OpView) -> None:
    axes = writer.integers(f"{view.op.name}/axes", view.params.axes)
    inputs, outputs = [writer.of(view.op.inputs[0]), axes], [writer.of(view.op.outputs[0])]
    keep = view.params.keep_dims
    writer.op(view.op.kind.upper(), inputs, outputs, "Reducer", _version(view, 2, 3), keepDims=keep)


@tflite_form.of("reshape")
def reshape(writer: TfliteWriter, view: OpView) -> None:
    shape = list(view.output().shape)
    inputs = [writer.of(view.op.inputs[0]), writer.integers(f"{view.op.name}/shape", shape)]
    writer.op("RESHAPE", inputs, [writer.of(view.op.outputs[0])], "Reshape", newShape=shape)


@tflite_form.of("transpose")
def transpose(writer: TfliteWriter, view: OpView) -> None:
    order = writer.integers(f"{view.op.name}/permutation", view.params.permutation)
    inputs = [writer.of(view.op.inputs[0]), order]
    writer.op("TRANSPOSE", inputs, [writer.of(view.op.outputs[0])], "Transpose", 2)


@tflite_form.of("pad")
def pad(writer: TfliteWriter, view: OpView) -> None:
    p = view.params
    if p.mode not in ("constant", "reflect", "symmetric"):
        raise NotInFormat(f"padding by {p.mode}")
    edges = writer.integers(f"{view.op.name}/edges", np.stack([p.before, p.after], axis=1))
    inputs, outputs = [writer.of(view.op.inputs[0]), edges], [writer.of(view.op.outputs[0])]
    if p.mode != "constant":
        writer.op("MIRROR_PAD", inputs, outputs, "MirrorPad", 2, mode=int(p.mode == "symmetric"))
    elif p.value == 0:
        writer.op("PAD", inputs, outputs, "Pad", 2)
    else:
        inputs.append(_constant(writer, view.output(), p.value))
        writer.op("PADV2", inputs, outputs, "PadV2", 2)


@tflite_form.of("slice")
def slice_(writer: TfliteWriter, view: OpView) -> None:
    p, name = view.params, view.op.name
    if any(stride < 0 for stride in p.stride):
        raise NotInFormat("a slice that goes backwards")
    spans = zip(p.begin, p.size, p.stride, strict=True)
    ends = [b + (n - 1) * s + 1 for b, n, s in spans]
    parts = [("begin", p.begin), ("end", ends), ("stride", p.stride)]
    inputs = [writer.of(view.op.inputs[0])]
    inputs += [writer.integers(f"{name}/{what}", values) for what, values in parts]
    writer.op("STRIDED_SLICE", inputs, [writer.of(view.op.outputs[0])], "StridedSlice", 2)


@tflite_form.of("concat")
def concat(writer: TfliteWriter, view: OpView) -> None:
    _simple(writer, view, "CONCATENATION", "Concatenation", 2, axis=view.params.axis)


@tflite_form.of("softmax", "log_softmax")
def softmax(writer: TfliteWriter, view: OpView) -> None:
    if view.params.axis != len(view.input(0).shape) - 1:
        raise NotInFormat("a softmax along another axis than the last")
    if view.op.kind == "softmax":
        version = _version(view, 2, 3)
        _simple(writer, view, "SOFTMAX", "Softmax", version, beta=view.params.beta)
    else:
        _simple(writer, view, "LOG_SOFTMAX", "LogSoftmax", 2)


@tflite_form.of("leaky_relu")
def leaky_relu(writer: TfliteWriter, view: OpView) -> None:
    _simple(writer, view, "LEAKY_RELU", "LeakyRelu", 2, alpha=view.params.alpha)


@tflite_form.of("batch_matmul")
def batch_matmul(writer: TfliteWriter, view: OpView) -> None:
    p = view.params
    _simple(writer, view, "BATCH_MATMUL", "BatchMatMul", _version(view, 2, 3),
            adjX=p.transpose_a, adjY=p.transpose_b)  # fmt: skip


@tflite_form.of("clamp")
def clamp(writer: TfliteWriter, view: OpView) -> None:
    p = view.params
    name = _ACTIVATIONS.get((p.low, p.high))
    same_scale = view.input(0).quant == view.output().quant
    if name not in (None, "NONE"):
        _simple(writer, view, str(name), None, _version(view, 2, 2))
    elif same_scale:
        _clamp(writer, writer.of(view.op.inputs[0]), view.output(), p.low, p.high)
    else:
        raise NotInFormat("a clamp that changes the scale")


@tflite_form.of("gather")
def gather(writer: TfliteWriter, view: OpView) -> None:
    _simple(writer, view, "GATHER", "Gather", 2, axis=view.params.axis)


@tflite_form.of("quantize", "requantize")
def quantize(writer: TfliteWriter, view: OpView) -> None:
    if getattr(view.params, "half_even", False):
        raise NotInFormat("rounding halves to even")
    _simple(writer, view, "QUANTIZE", "Quantize")


@tflite_form.of("dequantize")
def dequantize(writer: TfliteWriter, view: OpView) -> None:
    _simple(writer, view, "DEQUANTIZE", "Dequantize", 3)


def _plain(kind: str, name: str, table: str | None, version: int) -> None:
    @tflite_form.of(kind)
    def lower(writer: TfliteWriter, view: OpView) -> None:
        _simple(writer, view, name, table, version)


for _kind, _name, _table, _number in (
    ("logistic", "LOGISTIC", None, 2), ("tanh", "TANH", None, 2),
    ("hard_swish", "HARD_SWISH", "HardSwish", 1), ("abs", "ABS", "Abs", 2),
    ("prelu", "PRELU", None, 1), ("maximum", "MAXIMUM", "MaximumMinimum", 2),
    ("minimum", "MINIMUM", "MaximumMinimum", 2), ("relu_0_to_1", "RELU_0_TO_1", None, 1),
    ("l2_normalization", "L2_NORMALIZATION", "L2Norm", 2),
):  # fmt: skip
    _plain(_kind, _name, _table, _number)
