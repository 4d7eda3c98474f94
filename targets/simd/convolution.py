"""Convolutions and fully connected layers over channel-blocked weights, for any ISA."""

from __future__ import annotations

import numpy as np
from kiln_targets.simd.geometry import BLOCK_BYTES, Geometry, window_of
from kiln_targets.simd.isa import Isa
from kiln_targets.simd.packing import (
    bias_of,
    folded_bias,
    pack_runs,
    pad_axis,
    padded_channels,
)
from kiln_targets.simd.requantization import requantization

from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, Scratch, kernel
from compiler.registry import count_macs


def weights_of(view: OpView) -> np.ndarray:
    """(O, kh, kw, C), or (O, K) of a fully connected layer.

    A depthwise convolution of one channel is a convolution with as many outputs.
    """
    weight = view.input(1).data
    assert weight is not None
    return weight.transpose(3, 1, 2, 0) if view.op.kind == "depthwise_conv2d" else weight


def geometry_of(view: OpView, step: int, direct: bool) -> Geometry:
    """Of any of the three; pixels are joined to one row if ``direct`` and that is possible."""
    weight = weights_of(view)
    if view.op.kind == "fully_connected":
        depth = weight.shape[1]
        rows = view.input(0).elements // depth
        if direct and depth % step == 0:
            return Geometry(1, (1, rows), depth, (1, rows))
        return Geometry(rows, (1, 1), depth, (1, 1))
    geometry = window_of(view, (weight.shape[1], weight.shape[2]))
    if direct and geometry.kernel == geometry.stride == (1, 1) and geometry.direct(step):
        pixels = (1, geometry.batch * geometry.input_hw[0] * geometry.input_hw[1])
        return Geometry(1, pixels, geometry.channels, pixels)
    return geometry


def window_fields(geometry: Geometry, channels: int, element_bytes: int) -> dict[str, Field]:
    """``SIMD_CONV2D_MEMBERS`` but for ``staged``."""
    pixels = max(48, BLOCK_BYTES // (geometry.channels * element_bytes) // 48 * 48)
    return {
        "batch": geometry.batch,
        "input_height": geometry.input_hw[0],
        "input_width": geometry.input_hw[1],
        "input_channels": geometry.channels,
        "output_height": geometry.output_hw[0],
        "output_width": geometry.output_hw[1],
        "output_channels": channels,
        "kernel_height": geometry.kernel[0],
        "kernel_width": geometry.kernel[1],
        "stride_y": geometry.stride[0],
        "stride_x": geometry.stride[1],
        "dilation_y": geometry.dilation[0],
        "dilation_x": geometry.dilation[1],
        "pad_top": geometry.padding[0],
        "pad_left": geometry.padding[1],
        "staged_width": geometry.staged_width,
        "rows_per_block": geometry.rows_per_block(element_bytes),
        "pixels_per_block": min(geometry.output_hw[1], pixels),
    }


def runs_of(geometry: Geometry, weight: np.ndarray) -> np.ndarray:
    """(O, runs, inputs of a run): inputs that lie together in memory are a run."""
    run = geometry.taps_per_run * geometry.channels
    return weight.reshape(weight.shape[0], -1, run)


class SimdConvolution(Kernel):
    """Output channels in lanes; ``direct`` reads the input in place, else it is staged."""

    isa: Isa
    direct: bool
    step: int  # inputs of a step
    element_bytes: int
    struct: str

    def fits(self, view: OpView) -> bool:
        weight, bias = view.input(1), view.optional(2)
        if not weight.is_constant or not (bias is None or bias.is_constant):
            return False
        one_group = view.op.kind == "fully_connected" or (
            view.input(0).shape[-1] == 1 or getattr(view.params, "groups", 0) == 1
        )
        types = weight.dtype == view.output().dtype == view.input(0).dtype
        return (
            types and one_group and view.output().elements > 0
            and (not self.direct or geometry_of(view, self.step, True).direct(self.step))
        )  # fmt: skip

    def call(self, view: OpView) -> Call:
        weight = weights_of(view)
        geometry = geometry_of(view, self.step, self.direct)
        fields = window_fields(geometry, weight.shape[0], self.element_bytes)
        rows = geometry.staged_rows(geometry.rows_per_block(self.element_bytes))
        elements = rows * geometry.staged_width * geometry.channels + self.step - 1
        scratch = () if self.direct else (Scratch(elements * self.element_bytes),)
        return Call(
            self.struct,
            {**fields, "staged": int(not self.direct), **self.number_fields(view)},
            (Input(0), *self.constants(view, runs_of(geometry, weight)), *scratch, Output(0)),
        )

    def number_fields(self, view: OpView) -> dict[str, Field]:
        raise NotImplementedError

    def constants(self, view: OpView, runs: np.ndarray) -> tuple[Constant, ...]:
        raise NotImplementedError

    def macs_per_cycle(self) -> float:
        raise NotImplementedError

    def cost(self, view: OpView) -> float:
        staging = 0 if self.direct else view.input(0).bytes / 16
        channels = view.output().shape[-1]
        padded = -(-channels // self.isa.lanes) * self.isa.lanes / channels
        return count_macs(view) * padded / self.macs_per_cycle() + view.output().elements + staging


class Int8Convolution(SimdConvolution):
    step = 4
    element_bytes = 1
    struct = "simd_conv2d_int8_shape"

    def fits(self, view: OpView) -> bool:
        fits = super().fits(view) and view.input(1).zero_point == 0
        return fits and requantization(view, weights_of(view)) is not None

    def number_fields(self, view: OpView) -> dict[str, Field]:
        output = requantization(view, weights_of(view))
        assert output is not None
        return {
            **output.fields,
            "input_zero_point": view.input(0).zero_point,
            "narrow_weights": int(weights_of(view).min(initial=0) > -128),
        }

    def constants(self, view: OpView, runs: np.ndarray) -> tuple[Constant, ...]:
        isa, offset = self.isa, self.isa.input_offset + view.input(0).zero_point
        parts = 2 if isa.pairs else 1
        output = requantization(view, runs)
        assert output is not None
        return (
            Constant(pack_runs(runs, isa.lanes, isa.int8_columns, self.step, parts), "weights"),
            Constant(folded_bias(view, runs, offset, isa.lanes, output.moved), "bias"),
            output.constant(padded_channels(runs.shape[0], isa.lanes)),
        )

    def macs_per_cycle(self) -> float:
        return self.isa.int8_macs


class FloatConvolution(SimdConvolution):
    step = 1
    element_bytes = 4
    struct = "simd_conv2d_float32_shape"

    def number_fields(self, view: OpView) -> dict[str, Field]:
        return clamp_fields(view, view.params.clamp)

    def constants(self, view: OpView, runs: np.ndarray) -> tuple[Constant, ...]:
        isa = self.isa
        bias = pad_axis(bias_of(view, runs.shape[0]).astype(np.float32), 0, isa.lanes)
        return (
            Constant(pack_runs(runs, isa.lanes, isa.float_columns, self.step), "weights"),
            Constant(bias, "bias"),
        )

    def macs_per_cycle(self) -> float:
        return self.isa.float_macs


def register_int8(isa: Isa) -> None:
    _register(isa, Int8Convolution, "int8")


def register_float32(isa: Isa) -> None:
    _register(isa, FloatConvolution, "float32")


def _register(isa: Isa, base: type[SimdConvolution], dtype: str) -> None:
    """The convolutions of ``isa.target``: those that stage their input, and the direct ones."""
    staged_ops = ("conv2d", "fully_connected", "depthwise_conv2d")
    for direct, ops in ((False, staged_ops), (True, ("conv2d", "fully_connected"))):
        form = "_direct" if direct else ""
        decorate = kernel(
            ops, target=isa.target, name=f"conv2d_{dtype}__{isa.target}{form}",
            source=f"conv2d_{dtype}.h", dtypes=(dtype,),
        )  # fmt: skip
        decorate(type(base.__name__, (base,), {"isa": isa, "direct": direct}))
