"""Conv and ConvTranspose."""

from __future__ import annotations

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Shape
from compiler.importers.onnx_model.node import Node, reads
from compiler.importers.onnx_model.windows import (
    Pair,
    extent,
    from_image,
    given_pads,
    pair,
    read_window,
    spatial_pair,
    split_total,
    to_image,
)
from compiler.operators.convolution import (
    Conv2dParams,
    DepthwiseConv2dParams,
    TransposeConv2dParams,
)
from compiler.operators.movement import ConcatParams, PadParams, SliceParams


def _image_weight(node: Node) -> str:
    """(A, B, k...) with a height of 1 if it has none."""
    shape = node.shape(1)
    if len(shape) != node.rank():
        raise ModelError(f"weight has {len(shape)} dimensions, the input {node.rank()}")
    return node.build.reshape(node.input(1), (*shape[:2], *pair(list(shape[2:]), "weight")))


def _bias(node: Node) -> tuple[str, ...]:
    return (node.input(2),) if node.has(2) else ()


def _over_depth(node: Node) -> str:
    """Convolution over depth, height and width: for each tap of depth one over the others, added.

    Depth goes beside the batch.
    """
    build = node.build
    batch, channels, depth, height, width = node.shape()
    weight, taps = node.input(1), node.shape(1)[2]
    stride, dilation = (int(node.attribute(n, [1] * 3)[0]) for n in ("strides", "dilations"))
    pads = [int(p) for p in node.attribute("pads", [0] * 6)]
    if node.attribute("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise UnsupportedError("auto_pad over three axes; give pads")
    x = node.input()
    if pads[0] or pads[3]:
        padding = PadParams((0, 0, pads[0], 0, 0), (0, 0, pads[3], 0, 0))
        x = build.emit("pad", x, params=padding)
    count = (depth + pads[0] + pads[3] - (taps - 1) * dilation - 1) // stride + 1
    flat = {name: node.attribute(name, [1] * 3)[1:] for name in ("strides", "dilations")}
    flat |= {"pads": [*pads[1:3], *pads[4:6]], "kernel_shape": node.shape(1)[3:]}
    total = ""
    for tap in range(taps):
        size = (batch, channels, count, height, width)
        params = SliceParams((0, 0, tap * dilation, 0, 0), size, (1, 1, stride, 1, 1))
        part = build.transpose(build.emit("slice", x, params=params), (0, 2, 1, 3, 4))
        part = build.reshape(part, (batch * count, channels, height, width))
        inputs = [part, _tap(node, weight, tap), *(_bias(node) if tap == 0 else ())]
        y = conv(node.changed(inputs, flat))
        total = build.emit("add", total, y) if total else y
    _, outputs, rows, columns = build.shape(total)
    total = build.reshape(total, (batch, count, outputs, rows, columns))
    return build.transpose(total, (0, 2, 1, 3, 4))


def _tap(node: Node, weight: str, tap: int) -> str:
    """(O,C,h,w): the weights at one depth."""
    data = node.data(1)
    if data is None:
        raise UnsupportedError("weights over three axes computed at run time")
    return node.build.constant(data[:, :, tap], "weight")


@reads("Conv")
def conv(node: Node) -> str:
    if node.rank() == 5:
        return _over_depth(node)
    build, channels = node.build, node.shape()[1]
    groups = int(node.attribute("group", 1))
    window = read_window(node, list(node.shape(1)[2:]))
    weight = _image_weight(node)
    outputs, per_group = build.shape(weight)[:2]
    if per_group * groups != channels or outputs % groups:
        raise ModelError(f"weight {list(node.shape(1))}, group {groups}, {channels} channels")
    x = to_image(build, node.input())
    if groups == channels > 1:
        weight = build.transpose(weight, (1, 2, 3, 0))
        depthwise = DepthwiseConv2dParams(window.stride, window.dilation, window.padding)
        y = build.emit("depthwise_conv2d", x, weight, *_bias(node), params=depthwise)
    else:
        weight = build.transpose(weight, (0, 2, 3, 1))
        params = Conv2dParams(window.stride, window.dilation, window.padding, groups)
        y = build.emit("conv2d", x, weight, *_bias(node), params=params)
    return from_image(build, y, node.rank())


@reads("ConvTranspose")
def conv_transpose(node: Node) -> str:
    if node.rank() not in (3, 4):
        raise UnsupportedError(f"input with {node.rank()} dimensions; 3 and 4 are known")
    build, groups = node.build, int(node.attribute("group", 1))
    params = _transpose_params(node)
    x, weight = to_image(build, node.input()), _image_weight(node)
    bias = _bias(node)
    outputs = build.shape(weight)[1]
    parts = []
    for group in range(groups):
        inputs = build.shape(weight)[0] // groups
        part_x = _part(node, x, 3, group, inputs)
        part_weight = _part(node, weight, 0, group, inputs)
        part_bias = [_part(node, b, 0, group, outputs) for b in bias]
        part_weight = build.transpose(part_weight, (1, 2, 3, 0))
        parts.append(
            build.emit("transpose_conv2d", part_x, part_weight, *part_bias, params=params)
        )
    y = parts[0]
    if groups > 1:
        y = build.emit("concat", *parts, params=ConcatParams(3))
    return from_image(build, y, node.rank())


def _part(node: Node, name: str, axis: int, index: int, size: int) -> str:
    """The ``index``-th run of ``size`` elements along ``axis``; all of it as it is."""
    build = node.build
    shape, data = build.shape(name), build.data(name)
    if shape[axis] == size:
        return name
    begin = tuple(index * size if i == axis else 0 for i in range(len(shape)))
    if data is not None:
        return build.constant(data.take(range(index * size, (index + 1) * size), axis), "part")
    sizes: Shape = tuple(size if i == axis else full for i, full in enumerate(shape))
    return build.emit("slice", name, params=SliceParams(begin, sizes, (1,) * len(shape)))


def _transpose_params(node: Node) -> TransposeConv2dParams:
    """Output size and padding by the ONNX formula, from whichever attributes are given."""
    rank = node.rank() - 2
    stride, dilation = spatial_pair(node, "strides"), spatial_pair(node, "dilations")
    reach = extent(pair(list(node.shape(1)[2:]), "weight"), dilation)
    size = pair(list(node.shape()[2:]), "input")
    extra = node.attribute("output_padding", [0] * rank)
    extra_pair: Pair = (0, int(extra[0])) if rank == 1 else (int(extra[0]), int(extra[1]))
    full = [
        (s - 1) * st + r + e
        for s, st, r, e in zip(size, stride, reach, extra_pair, strict=True)
    ]
    auto = node.attribute("auto_pad", "NOTSET")
    if node.given("output_shape"):
        output = pair(list(node.attribute("output_shape", []))[-rank:], "output_shape")
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        output = (size[0] * stride[0], size[1] * stride[1])
    else:
        begin, end = given_pads(node, ignore=auto == "VALID")
        output = (full[0] - begin[0] - end[0], full[1] - begin[1] - end[1])
        return TransposeConv2dParams(
            output, stride, dilation, (begin[0], end[0], begin[1], end[1])
        )
    totals = [max(f - o, 0) for f, o in zip(full, output, strict=True)]
    begin, end = split_total(totals, upper=auto == "SAME_UPPER")
    return TransposeConv2dParams(output, stride, dilation, (begin[0], end[0], begin[1], end[1]))
