"""Convolutions of the reference target."""

from __future__ import annotations

import numpy as np

from compiler.graph import OpView
from compiler.kernel_fields import (
    accumulator_scales,
    clamp_fields,
    requantize_constants,
    rounding_field,
    window_fields,
)
from compiler.kernels import Call, Constant, Input, Kernel, Output, kernel


@kernel(
    "conv2d", target="reference", name="conv2d_int8__reference", source="conv2d.h",
    dtypes=("int8",),
)  # fmt: skip
@kernel(
    "conv2d", target="reference", name="conv2d_uint8__reference", source="conv2d.h",
    dtypes=("uint8",),
)  # fmt: skip
class Conv2dInteger(Kernel):
    """8-bit convolution into the same type; the input's zero point is folded into the bias."""

    def fits(self, view: OpView) -> bool:
        weight = view.input(1)
        return weight.is_constant and weight.dtype == view.output().dtype == view.input(0).dtype

    def call(self, view: OpView) -> Call:
        weight, channels = view.input(1), view.output().shape[-1]
        return Call(
            "conv2d_integer_shape",
            {
                **window_fields(view, (weight.shape[1], weight.shape[2])),
                "groups": view.params.groups,
                "input_zero_point": view.input(0).zero_point,
                "weight_zero_point": weight.zero_point,
                "output_zero_point": view.output().zero_point,
                **clamp_fields(view, view.params.clamp),
                **rounding_field(view),
            },
            (
                Input(0),
                Input(1),
                Constant(_folded_bias(view, channels), "bias"),
                Constant(
                    requantize_constants(accumulator_scales(view, channels), view.numerics),
                    "multiplier",
                ),
                Output(0),
            ),
        )


def _folded_bias(view: OpView, channels: int) -> np.ndarray:
    """Bias - input zero point * sum(weights - weight zero point), per output channel."""
    weight, bias = view.input(1), view.optional(2)
    assert weight.data is not None
    base = np.zeros(channels, np.int64) if bias is None or bias.data is None else bias.data
    sums = (weight.data.astype(np.int64) - weight.zero_point).reshape(channels, -1).sum(axis=1)
    return (base - view.input(0).zero_point * sums).astype(np.int32)
