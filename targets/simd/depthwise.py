"""depthwise_conv2d in flat rows, for any instruction set."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from kiln_targets.simd.geometry import Geometry, window_of
from kiln_targets.simd.isa import Isa
from kiln_targets.simd.packing import (
    bias_of,
    folded_bias,
    round_up,
)
from kiln_targets.simd.requantization import requantization

from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, Scratch, kernel
from compiler.registry import count_macs

#: Bytes of the ring of prepared rows: two thirds of a 32 KiB L1 cache.
RING_BYTES = 20480
HIGHEST_KERNEL = 16  # SIMD_DEPTHWISE_ROWS


@dataclass(frozen=True)
class Rows:
    """How rows lie in scratch. ``block`` elements are computed at a time."""

    channels: int
    pixels_per_block: int
    phases: int
    block: int
    expansion: int  # bytes of the ring per element of a row
    reach_pixels: int
    slots: int

    @property
    def period(self) -> int:
        """Blocks after which the channels repeat."""
        return math.lcm(self.channels, self.block) // self.block

    @property
    def line_elements(self) -> int:
        return (self.pixels_per_block + self.reach_pixels) * self.channels

    @property
    def row_elements(self) -> int:
        return round_up(self.pixels_per_block * self.channels, self.block)

    def channel_of(self, order: np.ndarray) -> np.ndarray:
        """The channel of each position of a period, where ``order`` is that of a block."""
        elements = np.arange(self.period)[:, None] * self.block + order
        return elements.ravel() % self.channels


def rows_of(view: OpView, block: int, expansion: int, least_pixels: int = 4) -> Rows:
    """Rows are cut so that the ring fits the cache, into ``least_pixels`` or more."""
    geometry = depthwise_window(view)
    slots = geometry.window_height
    reach = (geometry.kernel[1] - 1) * geometry.dilation[1]
    pixels = RING_BYTES // (slots * geometry.channels * expansion)
    return Rows(
        geometry.channels, min(geometry.output_hw[1], max(least_pixels, pixels)),
        min(geometry.stride[1], reach + 1), block, expansion, reach // geometry.stride[1], slots,
    )  # fmt: skip


def depthwise_window(view: OpView) -> Geometry:
    _, height, width, _ = view.input(1).shape
    return window_of(view, (height, width))


def _fields(view: OpView, rows: Rows, slot_elements: int) -> dict[str, Field]:
    geometry = depthwise_window(view)
    return {
        "batch": geometry.batch,
        "input_height": geometry.input_hw[0],
        "input_width": geometry.input_hw[1],
        "channels": geometry.channels,
        "output_height": geometry.output_hw[0],
        "output_width": geometry.output_hw[1],
        "kernel_height": geometry.kernel[0],
        "kernel_width": geometry.kernel[1],
        "stride_y": geometry.stride[0],
        "stride_x": geometry.stride[1],
        "dilation_y": geometry.dilation[0],
        "dilation_x": geometry.dilation[1],
        "pad_top": geometry.padding[0],
        "pad_left": geometry.padding[1],
        "pixels_per_block": rows.pixels_per_block,
        "period": rows.period,
        "line_elements": rows.line_elements,
        "slot_elements": slot_elements,
    }


class SimdDepthwise(Kernel):
    isa: Isa

    def fits(self, view: OpView) -> bool:
        weight, bias = view.input(1), view.optional(2)
        types = weight.dtype == view.output().dtype == view.input(0).dtype
        constant = weight.is_constant and (bias is None or bias.is_constant)
        same_channels = view.input(0).shape[-1] == weight.shape[-1]
        return (
            types and constant and same_channels and view.output().elements > 0
            and depthwise_window(view).kernel[0] <= HIGHEST_KERNEL
        )  # fmt: skip


    def cost(self, view: OpView) -> float:
        per_cycle = self.isa.lanes if view.input(0).dtype == "int8" else self.isa.lanes / 2
        return count_macs(view) / per_cycle + view.input(0).bytes / 16


class Int8Depthwise(SimdDepthwise):
    """What the two int8 forms share: the struct, the bias and the requantization."""

    def fits(self, view: OpView) -> bool:
        weight = view.input(1)
        return (
            super().fits(view) and weight.zero_point == 0 and weight.data is not None
            and requantization(view, by_channel(weight.data)) is not None
        )  # fmt: skip

    def int8_call(
        self, view: OpView, rows: Rows, slot: int, channel_of: np.ndarray,
        packed: np.ndarray, scratch: tuple[Scratch, ...],
    ) -> Call:  # fmt: skip
        weight, offset = view.input(1).data, self.isa.input_offset + view.input(0).zero_point
        assert weight is not None
        output = requantization(view, by_channel(weight))
        assert output is not None
        bias = folded_bias(view, by_channel(weight), offset, 1, output.moved)
        return Call(
            "simd_depthwise_int8_shape",
            {
                **_fields(view, rows, slot),
                **output.fields,
                "input_zero_point": view.input(0).zero_point,
                "narrow_weights": int(weight.min(initial=0) > -128),
            },
            (
                Input(0),
                Constant(packed, "weights"),
                Constant(bias[channel_of], "bias"),
                output.constant(channel_of),
                *scratch,
                Output(0),
            ),
        )


class Int8DepthwiseQuads(Int8Depthwise):
    """Dot products of four taps; needs ``Isa.quad_order``."""

    def call(self, view: OpView) -> Call:
        weight, isa = view.input(1).data, self.isa
        assert weight is not None
        kernel_hw = depthwise_window(view).kernel
        groups = -(-kernel_hw[1] // 4)
        rows = rows_of(view, 4 * isa.lanes, 4 * groups)
        channel_of = rows.channel_of(isa.quad_order())
        slot = groups * rows.row_elements * 4
        line = rows.phases * rows.line_elements + rows.block
        packed = pack_quads(weight.reshape(1, *kernel_hw, -1), channel_of, rows.block)
        scratch = (Scratch(line), Scratch(rows.slots * slot))
        return self.int8_call(view, rows, slot, channel_of, packed, scratch)


class Int8DepthwiseTaps(Int8Depthwise):
    """Products of two taps summed in 16 bits, elements in their order."""

    def call(self, view: OpView) -> Call:
        weight = view.input(1).data
        assert weight is not None
        block = 4 * self.isa.lanes
        rows = rows_of(view, block, 1)
        channel_of = rows.channel_of(np.arange(block))
        slot = round_up(rows.phases * rows.line_elements, block)
        scratch = Scratch(rows.slots * slot + block)
        packed = pack_taps(weight, channel_of, block)
        return self.int8_call(view, rows, slot, channel_of, packed, (scratch,))


class FloatDepthwise(SimdDepthwise):
    def call(self, view: OpView) -> Call:
        weight, isa = view.input(1).data, self.isa
        assert weight is not None
        rows = rows_of(view, isa.lanes, 4, least_pixels=8)
        channel_of = rows.channel_of(np.arange(isa.lanes))
        slot = round_up(rows.phases * rows.line_elements, isa.lanes)
        bias = bias_of(view, weight.shape[-1]).astype(np.float32)
        return Call(
            "simd_depthwise_float32_shape",
            {**_fields(view, rows, slot), **clamp_fields(view, view.params.clamp)},
            (
                Input(0),
                Constant(pack_taps(weight, channel_of, isa.lanes), "weights"),
                Constant(bias[channel_of], "bias"),
                Scratch((rows.slots * slot + isa.lanes) * 4),
                Output(0),
            ),
        )


def by_channel(weight: np.ndarray) -> np.ndarray:
    """(1, kh, kw, C) to (C, taps)."""
    return weight.reshape(-1, weight.shape[-1]).T


def pack_taps(weight: np.ndarray, channel_of: np.ndarray, block: int) -> np.ndarray:
    """(1, kh, kw, C) to ``[block of the period][tap row][tap][position]``."""
    taps = by_channel(weight).T[:, channel_of]
    return taps.reshape(len(taps), -1, block).transpose(1, 0, 2).ravel()


def pack_quads(weight: np.ndarray, channel_of: np.ndarray, block: int) -> np.ndarray:
    """(1, kh, kw, C) to ``[block of the period][tap row][group of 4 taps][position][tap]``."""
    _, height, width, _ = weight.shape
    padded = np.pad(weight[0], ((0, 0), (0, -width % 4), (0, 0)))[..., channel_of]
    groups = padded.reshape(height, -1, 4, len(channel_of) // block, block)
    return groups.transpose(3, 0, 1, 4, 2).ravel()


def register_int8(isa: Isa, base: type[SimdDepthwise] = Int8DepthwiseQuads) -> None:
    _register(isa, base, "int8")


def register_float32(isa: Isa) -> None:
    _register(isa, FloatDepthwise, "float32")


def _register(isa: Isa, base: type[SimdDepthwise], dtype: str) -> None:
    decorate = kernel(
        "depthwise_conv2d", target=isa.target, source=f"depthwise_{dtype}.h",
        name=f"depthwise_conv2d_{dtype}__{isa.target}", dtypes=(dtype,),
    )  # fmt: skip
    decorate(type(base.__name__, (base,), {"isa": isa}))
