"""conv2d, fully_connected and depthwise_conv2d of one channel, of Cortex-M in int8."""

from __future__ import annotations

import numpy as np
from kiln_targets.cortex_m.packing import (
    channels_of,
    has_words,
    is_safe,
    mode_of,
    pack_channels,
    pack_words,
    round_up,
    saturates,
    segment_of,
)

from compiler.accumulate import accumulator_rounding
from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields, rounding_field
from compiler.kernels import Call, Constant, Input, Kernel, Output, Scratch, kernel
from compiler.registry import count_macs


def weights_of(view: OpView) -> np.ndarray:
    """(O, K), K in the order of a window."""
    data = view.input(1).data
    assert data is not None
    if view.op.kind == "depthwise_conv2d":
        return data.reshape(-1, data.shape[-1]).T
    return data.reshape(data.shape[0], -1)


def _is_dense(view: OpView) -> bool:
    """Whether every output channel sees every input channel."""
    if view.op.kind == "depthwise_conv2d":
        return view.input(0).shape[-1] == 1
    return view.op.kind == "fully_connected" or view.params.groups == 1


class Int8Convolution(Kernel):
    """For one of ``packing.MODES``, and a clamp or none."""

    mode: str
    clamped: bool

    def fits(self, view: OpView) -> bool:
        weight, bias = view.input(1), view.optional(2)
        return (
            weight.dtype == view.output().dtype == "int8"
            and weight.is_constant and (bias is None or bias.is_constant)
            and weight.zero_point == 0 and _is_dense(view) and view.output().elements > 0
            and self._requantizes(view)
        )  # fmt: skip

    def _requantizes(self, view: OpView) -> bool:
        channels = channels_of(view, weights_of(view))
        weight = channels.weight
        if not is_safe(channels):
            return False
        if not has_words(weight) or segment_of(weight) < round_up(weight.shape[1], 8):
            return self.mode == "any"
        mode = mode_of(view, channels, accumulator_rounding(view))
        return self.mode == "any" or (mode == self.mode and self.clamped != saturates(view))

    def cost(self, view: OpView) -> float:
        return float(count_macs(view) + (1 if self.mode == "any" else 0))

    def call(self, view: OpView) -> Call:
        channels = channels_of(view, weights_of(view))
        weight = channels.weight
        single = not has_words(weight)
        if single:
            weight = np.stack([weight, np.zeros_like(weight)], axis=1).reshape(-1, weight.shape[1])
        depth = round_up(weight.shape[1], 8)
        fields = _window_fields(view)
        staged = _run(fields) % 4 != 0
        padded = bool(fields["pad_top"] or fields["pad_left"] or not _covers(fields))
        columns = 2 * depth * (2 if view.output().elements > fields["output_channels"] else 1)
        return Call(
            "cortex_m_conv2d_int8_shape",
            {
                **fields,
                "input_zero_point": view.input(0).zero_point,
                "depth": depth,
                "segment": segment_of(weight),
                "single": int(single),
                "pointwise": int(_is_pointwise(fields)),
                "staged": int(staged),
                "output_zero_point": view.output().zero_point,
                **clamp_fields(view, view.params.clamp),
                **rounding_field(view),
            },
            (
                Input(0),
                Constant(pack_words(weight), "weights"),
                Constant(pack_channels(channels, self.mode, view.numerics), "multiplier"),
                Scratch(columns + (depth if staged or padded else 0)),
                Output(0),
            ),
        )


class Int8Row(Int8Convolution):
    """fully_connected of one row, which is read where it lies: no scratch."""

    def fits(self, view: OpView) -> bool:
        channels, depth = view.input(1).shape
        return view.output().elements == channels and depth % 8 == 0 and super().fits(view)

    def cost(self, view: OpView) -> float:
        return count_macs(view) - 1.0

    def call(self, view: OpView) -> Call:
        channels = channels_of(view, weights_of(view))
        return Call(
            "cortex_m_fully_connected_int8_shape",
            {
                "depth": channels.weight.shape[1],
                "output_channels": channels.weight.shape[0],
                "output_zero_point": view.output().zero_point,
                **clamp_fields(view, view.params.clamp),
                **rounding_field(view),
            },
            (
                Input(0),
                Constant(pack_words(channels.weight), "weights"),
                Constant(pack_channels(channels, self.mode, view.numerics), "multiplier"),
                Output(0),
            ),
        )


def _window_fields(view: OpView) -> dict[str, int]:
    """Window and image; fully connected is one row of pixels of 1x1."""
    weight, output = view.input(1), view.output()
    if view.op.kind == "fully_connected":
        pixels = output.elements // weight.shape[0]
        names = ("input_width", "output_width")
        extent = dict.fromkeys(names, pixels)
        image = (1, 1, weight.shape[1])
        height, width, stride, dilation, padding = 1, 1, (1, 1), (1, 1), (0, 0, 0, 0)
    else:
        x, params = view.input(0).shape, view.params
        extent = {"input_width": x[2], "output_width": output.shape[2]}
        image = (x[0], x[1], x[3])
        _, height, width, _ = weight.shape
        stride, dilation, padding = params.stride, params.dilation, params.padding
    return {
        "batch": image[0],
        "input_height": image[1],
        "input_channels": image[2],
        **extent,
        "output_height": 1 if view.op.kind == "fully_connected" else output.shape[1],
        "output_channels": output.shape[-1],
        "kernel_height": height,
        "kernel_width": width,
        "stride_y": stride[0],
        "stride_x": stride[1],
        "dilation_y": dilation[0],
        "dilation_x": dilation[1],
        "pad_top": padding[0],
        "pad_left": padding[2],
    }


def _run(fields: dict[str, int]) -> int:
    taps = fields["kernel_width"] if fields["dilation_x"] == 1 else 1
    return taps * fields["input_channels"]


def _covers(fields: dict[str, int]) -> bool:
    """Whether no window reaches beyond the image's lower right."""
    return all(
        (fields[f"output_{side}"] - 1) * fields[f"stride_{axis}"]
        + (fields[f"kernel_{side}"] - 1) * fields[f"dilation_{axis}"]
        < fields[f"input_{side}"] + fields[pad]
        for side, axis, pad in (("height", "y", "pad_top"), ("width", "x", "pad_left"))
    )


def _is_pointwise(fields: dict[str, int]) -> bool:
    """Whether input pixels are output pixels."""
    return (
        fields["kernel_height"] == fields["kernel_width"] == 1
        and fields["stride_y"] == fields["stride_x"] == 1
        and fields["input_height"] == fields["output_height"]
        and fields["input_width"] == fields["output_width"]
        and fields["pad_top"] == fields["pad_left"] == 0
    )


#: Operators of each mode: numerics ``tflite`` rounds fully connected layers once.
_OPERATORS = {
    "double": ("conv2d", "depthwise_conv2d"),
    "single": ("fully_connected",),
    "fast": ("conv2d", "depthwise_conv2d", "fully_connected"),
    "any": ("conv2d", "depthwise_conv2d", "fully_connected"),
}

for _mode, _operators in _OPERATORS.items():
    for _clamped in (False, True) if _mode != "any" else (False,):
        kernel(
            _operators, target="cortex_m", source="conv2d_int8.h", dtypes=("int8",),
            name=f"conv2d_int8__cortex_m_{_mode}{'_clamped' if _clamped else ''}",
        )(type("", (Int8Convolution,), {"mode": _mode, "clamped": _clamped}))  # fmt: skip

for _mode in ("single", "fast"):
    for _clamped in (False, True):
        kernel(
            "fully_connected", target="cortex_m", source="fully_connected_int8.h",
            dtypes=("int8",),
            name=f"fully_connected_int8__cortex_m_{_mode}{'_clamped' if _clamped else ''}",
        )(type("", (Int8Row,), {"mode": _mode, "clamped": _clamped}))  # fmt: skip
