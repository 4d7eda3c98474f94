"""QuantizeLinear and its kin: by scales on tensors where they are known, else as arithmetic."""

from __future__ import annotations

import numpy as np

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Quantization
from compiler.importers.onnx_model.metadata import dtype_of
from compiler.importers.onnx_model.node import Node, reads
from compiler.importers.onnx_model.windows import from_image, read_window, to_image
from compiler.operators.convolution import Conv2dParams
from compiler.operators.elementwise import ClampParams
from compiler.operators.matrix import BatchMatmulParams
from compiler.operators.movement import BroadcastToParams
from compiler.operators.quantization import QuantizeParams
from compiler.operators.reduction import ReduceParams

INTEGERS = ("int8", "uint8", "int16")  # what quantize and dequantize know


def _per_tensor(node: Node, scale: int, zero: int, dtype: str) -> Quantization | None:
    """Constant inputs ``scale`` and ``zero`` as one scale; None where they are not."""
    values, zeros = node.data(scale), node.data(zero)
    if values is None or values.size != 1 or (node.has(zero) and zeros is None):
        return None
    value, point = float(values.reshape(-1)[0]), 0 if zeros is None else int(zeros.reshape(-1)[0])
    if not np.isfinite(value) or value <= 0 or dtype not in INTEGERS:
        return None
    return Quantization((value,), (point,))


def _result_dtype(node: Node) -> str:
    if node.has(2):
        return node.dtype(2)
    wanted = int(node.attribute("output_dtype", 0))
    return dtype_of(wanted) if wanted else "uint8"


@reads("QuantizeLinear")
def quantize_linear(node: Node) -> str:
    """clamp(rint(x / scale) + zero point)."""
    build, dtype = node.build, _result_dtype(node)
    if dtype not in INTEGERS:
        raise UnsupportedError(f"quantization to {dtype}; {', '.join(INTEGERS)} are known")
    quant = _per_tensor(node, 1, 2, dtype)
    if quant is not None and node.dtype() == node.dtype(1) == "float32":
        (output,) = build.emit_all("quantize", (node.input(),), QuantizeParams(half_even=True),
                                   dtype, quant)  # fmt: skip
        return output
    x, scale = (build.cast(node.input(i), "float32") for i in (0, 1))
    steps = build.emit("round", build.emit("div", x, _spread(node, scale)))
    if node.has(2):
        zero = build.cast(node.input(2), "float32")
        steps = build.emit("add", steps, _spread(node, zero))
    info = np.iinfo(dtype)
    limits = ClampParams(float(info.min), float(info.max))
    return build.cast(build.emit("clamp", steps, params=limits), dtype)


def _spread(node: Node, name: str) -> str:
    """A scale or zero point so that it broadcasts over input 0: per tensor, axis or block."""
    build, shape, own = node.build, node.shape(), node.build.shape(name)
    if int(np.prod(own)) == 1:
        return build.reshape(name, ())
    axis = node.axis(1)
    block = int(node.attribute("block_size", 0))
    if block:
        wide = build.reshape(name, (*own[: axis + 1], 1, *own[axis + 1 :]))
        full = (*own[: axis + 1], block, *own[axis + 1 :])
        data = build.data(wide)
        if data is not None:
            blocks = build.constant(np.broadcast_to(data, full))
        else:
            blocks = build.emit("broadcast_to", wide, params=BroadcastToParams(full))
        if own[axis] * block != shape[axis]:
            raise UnsupportedError(f"blocks of {block} that do not divide {shape[axis]}")
        return build.reshape(blocks, shape)
    return build.reshape(name, [-1 if i == axis else 1 for i in range(len(shape))])


@reads("DequantizeLinear")
def dequantize_linear(node: Node) -> str:
    """(x - zero point) * scale."""
    build, dtype = node.build, node.dtype()
    quant = _per_tensor(node, 1, 2, dtype)
    if quant is not None and node.dtype(1) == "float32" and node.data(0) is None:
        return build.emit("dequantize", build.quantized(node.input(), quant), dtype="float32",
                          params=QuantizeParams())  # fmt: skip
    wide = build.cast(build.plain(node.input()), "int32")
    if node.has(2):
        wide_zero = _spread(node, build.cast(node.input(2), "int32"))
        wide = build.emit("sub", wide, wide_zero)
    spread = _spread(node, build.cast(node.input(1), "float32"))
    y = build.emit("mul", build.cast(wide, "float32"), spread)
    return build.cast(y, node.dtype(1))


@reads("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: Node) -> tuple[str, str, str]:
    """uint8 over the range of x and 0, found at run time."""
    build, x = node.build, node.input()
    every = ReduceParams(tuple(range(node.rank())))
    zero = build.like(x, 0.0)
    low = build.emit("minimum", build.emit("reduce_min", x, params=every), zero)
    high = build.emit("maximum", build.emit("reduce_max", x, params=every), zero)
    scale = build.emit("div", build.emit("sub", high, low), build.like(x, 255.0))
    limits = ClampParams(0.0, 255.0)
    # ONNX rounds the saturated quotient, and divides by a scale of 0 only where all x are 0.
    point = build.emit("div", build.emit("sub", zero, low), scale)
    point = build.emit("round", build.emit("clamp", point, params=limits))
    steps = build.emit("add", build.emit("round", build.emit("div", x, scale)), point)
    y = build.emit("clamp", steps, params=limits)
    return build.cast(y, "uint8"), scale, build.cast(point, "uint8")


def quantized_matmul(node: Node) -> str:
    """QLinearMatMul whose scales may be computed: in int32, then in float32."""
    product = _integer_matmul(node, 0, 2, 3, 5)
    return _requantized(node, product, (1, 4, 6), 7, channel_axis=-1)


@reads("MatMulInteger")
def matmul_integer(node: Node) -> str:
    return _integer_matmul(node, 0, 2, 1, 3)


def _integer_matmul(node: Node, a: int, a_zero: int, b: int, b_zero: int) -> str:
    """int32 sums; the zero point of a may be per row, that of b per column."""
    build = node.build
    left, right = _centred(node, a, a_zero, -2), _centred(node, b, b_zero, -1)
    a_shape, b_shape = build.shape(left), build.shape(right)
    if len(a_shape) == 1:
        left = build.reshape(left, (1, *a_shape))
    if len(b_shape) == 1:
        right = build.reshape(right, (*b_shape, 1))
    y = build.emit("batch_matmul", left, right, params=BatchMatmulParams())
    shape = list(build.shape(y))
    if len(b_shape) == 1:
        del shape[-1]
    if len(a_shape) == 1:
        del shape[-1 if len(b_shape) == 1 else -2]
    return build.reshape(y, shape)


def _centred(node: Node, index: int, zero: int, axis: int) -> str:
    """Input ``index`` less its zero point, as int32; several zero points go along ``axis``."""
    build = node.build
    x = build.cast(build.plain(node.input(index)), "int32")
    if not node.has(zero):
        return x
    point = build.cast(node.input(zero), "int32")
    rank = len(build.shape(x))
    values, data = build.data(x), build.data(point)
    if data is not None and not data.any():
        return x
    if len(build.shape(point)) == 1 and build.shape(point) != (1,):
        point = build.reshape(point, [-1 if i == axis % rank else 1 for i in range(rank)])
    elif int(np.prod(build.shape(point))) == 1:
        point = build.reshape(point, ())
    data = build.data(point)
    if values is not None and data is not None:
        return build.constant(values - data, "centred")
    return build.emit("sub", x, point)


def _requantized(
    node: Node, total: str, scales: tuple[int, int, int], zero: int, channel_axis: int
) -> str:
    """int32 sums as integers: rint(sum * a's scale * b's scale / the output's) + zero point."""
    build, dtype = node.build, node.dtype(zero)
    rank = len(build.shape(total))
    first, second, last = (build.cast(node.input(i), "float32") for i in scales)
    factors = []
    for name in (first, second, last):
        if int(np.prod(build.shape(name))) == 1:
            factors.append(build.reshape(name, ()))
        else:
            axis = channel_axis % rank
            factors.append(build.reshape(name, [-1 if i == axis else 1 for i in range(rank)]))
    ratio = build.emit("div", build.emit("mul", factors[0], factors[1]), factors[2])
    steps = build.emit("round", build.emit("mul", build.cast(total, "float32"), ratio))
    point = build.reshape(build.cast(node.input(zero), "float32"), ())
    info = np.iinfo(dtype)
    limits = ClampParams(float(info.min), float(info.max))
    return build.cast(build.emit("clamp", build.emit("add", steps, point), params=limits), dtype)


@reads("ConvInteger")
def conv_integer(node: Node) -> str:
    return _integer_conv(node, 0, 2, 1, 3, None)


def quantized_conv(node: Node) -> str:
    """QLinearConv whose scales may be computed: in int32, then in float32."""
    total = _integer_conv(node, 0, 2, 3, 5, 8 if node.has(8) else None)
    return _requantized(node, total, (1, 4, 6), 7, channel_axis=1)


def _integer_conv(
    node: Node, x: int, x_zero: int, weight: int, weight_zero: int, bias: int | None
) -> str:
    """int32 sums. What is centred is 0 outside, as padding wants it."""
    build = node.build
    shape = node.shape(weight)
    if node.rank() != 4:
        raise UnsupportedError(f"input with {node.rank()} dimensions; 4 are known")
    groups = int(node.attribute("group", 1))
    if shape[1] * groups != node.shape()[1]:
        raise ModelError(f"weight {list(shape)}, group {groups}, {node.shape()[1]} channels")
    window = read_window(node, list(shape[2:]))
    image = to_image(build, _centred(node, x, x_zero, 1))
    kernel = build.transpose(_centred(node, weight, weight_zero, 0), (0, 2, 3, 1))
    params = Conv2dParams(window.stride, window.dilation, window.padding, groups)
    extra = () if bias is None else (node.input(bias),)
    return from_image(build, build.emit("conv2d", image, kernel, *extra, params=params), 4)
