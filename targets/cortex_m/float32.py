"""conv2d, depthwise_conv2d and fully_connected of Cortex-M in float32, for cores with an FPU."""

from __future__ import annotations

import numpy as np

from compiler.graph import OpView
from compiler.kernel_fields import bias_buffer, clamp_fields, window_fields
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, kernel

BLOCK = 4  # channels of a block of weights


def _constant(view: OpView) -> bool:
    weight, bias = view.input(1), view.optional(2)
    types = weight.dtype == view.output().dtype == "float32"
    return (
        types and weight.is_constant and (bias is None or bias.is_constant)
        and view.output().elements > 0
    )  # fmt: skip


def _image_fields(view: OpView) -> dict[str, Field]:
    """Of a convolution; fully connected is one row of pixels of 1x1."""
    weight = view.input(1)
    if view.op.kind != "fully_connected":
        return window_fields(view, (weight.shape[1], weight.shape[2]))
    channels, depth = weight.shape
    pixels = view.output().elements // channels
    ones = dict.fromkeys(
        ("batch", "input_height", "output_height", "kernel_height", "kernel_width", "stride_y",
         "stride_x", "dilation_y", "dilation_x"), 1,
    )  # fmt: skip
    return {
        **ones,
        "input_width": pixels,
        "output_width": pixels,
        "input_channels": depth,
        "output_channels": channels,
        "pad_top": 0,
        "pad_left": 0,
    }


@kernel(
    ("conv2d", "fully_connected"), target="cortex_m", source="conv2d_float32.h",
    name="conv2d_float32__cortex_m", dtypes=("float32",),
)  # fmt: skip
class FloatConvolution(Kernel):
    """No scratch: windows are read where they lie."""

    def fits(self, view: OpView) -> bool:
        groups = view.params.groups if view.op.kind == "conv2d" else 1
        return groups == 1 and _constant(view)

    def call(self, view: OpView) -> Call:
        weight, bias = view.input(1).data, view.optional(2)
        assert weight is not None
        rows = weight.reshape(len(weight), -1)
        padded = np.pad(rows, ((0, -len(rows) % BLOCK), (0, 0)))
        blocks = padded.reshape(-1, BLOCK, rows.shape[1]).transpose(0, 2, 1)
        offsets = np.zeros(len(padded), np.float32)
        if bias is not None and bias.data is not None:
            offsets[: len(rows)] = bias.data
        return Call(
            "cortex_m_conv2d_float32_shape",
            {**_image_fields(view), **clamp_fields(view, view.params.clamp)},
            (Input(0), Constant(blocks.ravel(), "weights"), Constant(offsets, "bias"), Output(0)),
        )


@kernel(
    "depthwise_conv2d", target="cortex_m", source="depthwise_float32.h",
    name="depthwise_conv2d_float32__cortex_m", dtypes=("float32",),
)  # fmt: skip
class FloatDepthwise(Kernel):
    """Weights as they stand in the file."""

    def fits(self, view: OpView) -> bool:
        return _constant(view) and view.input(0).shape[-1] == view.input(1).shape[-1]

    def call(self, view: OpView) -> Call:
        channels = view.output().shape[-1]
        return Call(
            "cortex_m_depthwise_float32_shape",
            {**_image_fields(view), **clamp_fields(view, view.params.clamp)},
            (Input(0), Input(1), bias_buffer(view, channels, 3, folded=False), Output(0)),
        )
