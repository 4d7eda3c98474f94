"""depthwise_conv2d of Cortex-M in int8."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from kiln_targets.cortex_m.packing import (
    Channels,
    channels_of,
    is_safe,
    mode_of,
    pack_channels,
    round_up,
    saturates,
)

from compiler.accumulate import accumulator_rounding
from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields, rounding_field
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, Scratch, kernel
from compiler.registry import count_macs

GROUP = 4  # CORTEX_M_GROUP
RECORD_BYTES = 32  # struct cortex_m_record_end
MOST_ROWS = 16  # CORTEX_M_DEPTHWISE_ROWS

#: Windows that have code of their own: (kernel height, halves, step); None is any.
WINDOWS = {"3x3_": (3, 1, 1), "3x3s2_": (3, 1, 2), "": None}


@dataclass(frozen=True)
class Plane:
    """The spatial side of the convolution: (height, width) each, and padding above and left."""

    input_hw: tuple[int, int]
    output_hw: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[int, int]

    @property
    def turned(self) -> Plane:
        """With height and width exchanged."""
        sides = (getattr(self, field.name) for field in fields(self))
        return Plane(*((side[1], side[0]) for side in sides))


def plane_of(view: OpView) -> Plane:
    """A single column of pixels is a single row of them: rows are what is computed fast."""
    params, weight = view.params, view.input(1)
    (_, *sides, _), (_, *output_sides, _) = view.input(0).shape, view.output().shape
    plane = Plane(
        (sides[0], sides[1]), (output_sides[0], output_sides[1]),
        (weight.shape[1], weight.shape[2]), params.stride, params.dilation,
        (params.padding[0], params.padding[2]),
    )  # fmt: skip
    is_column = plane.input_hw[1] == plane.output_hw[1] == plane.kernel[1] == 1
    return plane.turned if is_column and plane.padding[1] == 0 else plane


def channels_of_taps(view: OpView) -> Channels:
    """Weights (C, taps)."""
    data = view.input(1).data
    assert data is not None
    return channels_of(view, data.reshape(-1, data.shape[-1]).T)


def line_fields(plane: Plane) -> dict[str, int]:
    """How a row lies in the ring; see ``struct cortex_m_depthwise_int8_shape``."""
    (kernel_height, kernel_width), width = plane.kernel, plane.output_hw[1]
    halves = max(1, kernel_width // 2)
    stride, dilation = plane.stride[1], plane.dilation[1]
    if dilation == 1 and (stride == 1 or stride % 2 == 0):
        blocks, length, step = 1, (width - 1) * stride + kernel_width, stride
    else:
        blocks, length, step = width, 2 * halves + 2, 2 * halves + 2
    # Two outputs at a time, and whole pairs of elements.
    read = (round_up(width, 2) - 1) * step + 2 * halves + 2
    return {
        "halves": halves,
        "blocks": blocks,
        "length": length,
        "step": step,
        "pitch": round_up(max(read, blocks * length), 2),
        "slots": (kernel_height - 1) * plane.dilation[0] + 1,
    }


def pack_taps(weight: np.ndarray, height: int, halves: int) -> np.ndarray:
    """(C, taps) to ``[channel][tap row][half][tap 2h, 2h+1, 2h+1, 2h+2]``."""
    channels = len(weight)
    rows = weight.reshape(channels, height, -1)
    padded = np.zeros((channels, height, 2 * halves + 1), np.int8)
    padded[..., : rows.shape[2]] = rows
    first = 2 * np.arange(halves)[:, None]
    return padded[..., first + np.array([0, 1, 1, 2])].ravel()


class Int8Depthwise(Kernel):
    """For one of ``packing.MODES``, a clamp or none, and one of WINDOWS."""

    mode: str
    clamped: bool
    window: tuple[int, int, int] | None

    def fits(self, view: OpView) -> bool:
        weight, bias = view.input(1), view.optional(2)
        return (
            weight.dtype == view.output().dtype == "int8"
            and weight.is_constant and (bias is None or bias.is_constant)
            and weight.zero_point == 0 and view.output().elements > 0
            and view.input(0).shape[-1] == weight.shape[-1]
            and plane_of(view).kernel[0] <= MOST_ROWS
            and self._has_window(view) and self._requantizes(view)
        )  # fmt: skip

    def _has_window(self, view: OpView) -> bool:
        plane = plane_of(view)
        lines = line_fields(plane)
        window = (plane.kernel[0], lines["halves"], lines["step"])
        return self.window is None or self.window == window

    def _requantizes(self, view: OpView) -> bool:
        channels = channels_of_taps(view)
        if not is_safe(channels):
            return False
        mode = mode_of(view, channels, accumulator_rounding(view))
        return self.mode == "any" or (mode == self.mode and self.clamped != saturates(view))

    def cost(self, view: OpView) -> float:
        worse = (self.mode == "any") + (self.window is None)
        return float(count_macs(view) + worse)

    def call(self, view: OpView) -> Call:
        channels = channels_of_taps(view)
        plane = plane_of(view)
        lines, height = line_fields(plane), plane.kernel[0]
        records = GROUP * (8 * lines["halves"] * height + RECORD_BYTES)
        ring = 2 * GROUP * lines["slots"] * lines["pitch"]
        return Call(
            "cortex_m_depthwise_int8_shape",
            {
                "batch": view.input(0).shape[0],
                "channels": view.input(0).shape[3],
                **_plane_fields(plane),
                "input_zero_point": view.input(0).zero_point,
                "kernel_height": height,
                **lines,
                "output_zero_point": view.output().zero_point,
                **clamp_fields(view, view.params.clamp),
                **rounding_field(view),
            },
            (
                Input(0),
                Constant(pack_taps(channels.weight, height, lines["halves"]), "weights"),
                Constant(pack_channels(channels, self.mode, view.numerics), "multiplier"),
                Scratch(records + ring),
                Output(0),
            ),
        )


def _plane_fields(plane: Plane) -> dict[str, Field]:
    return {
        "input_height": plane.input_hw[0],
        "input_width": plane.input_hw[1],
        "output_height": plane.output_hw[0],
        "output_width": plane.output_hw[1],
        "stride_y": plane.stride[0],
        "stride_x": plane.stride[1],
        "dilation_y": plane.dilation[0],
        "dilation_x": plane.dilation[1],
        "pad_top": plane.padding[0],
        "pad_left": plane.padding[1],
    }


for _mode, _clamped, _window in (
    *((m, c, w) for m in ("double", "fast") for c in (False, True) for w in WINDOWS),
    ("any", False, ""),
):
    kernel(
        "depthwise_conv2d", target="cortex_m", source="depthwise_int8.h", dtypes=("int8",),
        name=f"depthwise_conv2d_int8__cortex_m_{_window}{_mode}{'_clamped' if _clamped else ''}",
    )(
        type("", (Int8Depthwise,), {"mode": _mode, "clamped": _clamped, "window": WINDOWS[_window]})
    )  # fmt: skip
