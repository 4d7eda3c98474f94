"""Convolutions of the reference target, in float32, int8, uint8 and 16x8."""

from __future__ import annotations

from compiler.graph import OpView
from compiler.kernel_fields import (
    accumulator_scales,
    bias_buffer,
    can_fold_zero_point,
    clamp_fields,
    quantized_fields,
    requantize_constants,
    weighted_dtypes_fit,
    window_fields,
)
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, kernel

DTYPES = ("float32", "int8", "uint8", "int16")


class Convolution(Kernel):
    """What convolutions share: the window, the bias and the multipliers."""

    struct = ""
    folds = False  # whether taps outside the image are handled when the zero point is folded
    channel_axis = 0  # of the weights

    def fits(self, view: OpView) -> bool:
        is_plain = view.input(0).dtype in ("float32", "int32")
        return weighted_dtypes_fit(view) and (view.output().quant is None) == is_plain

    def extra_fields(self, view: OpView, folded: bool) -> dict[str, Field]:
        """Members that only this operator has."""
        return {}

    def call(self, view: OpView) -> Call:
        weight, channels = view.input(1), view.output().shape[-1]
        fields = window_fields(view, (weight.shape[1], weight.shape[2]))
        if view.output().quant is None:
            return Call(
                f"{self.struct}_float32_shape",
                {
                    **fields,
                    **self.extra_fields(view, False),
                    **clamp_fields(view, view.params.clamp),
                },
                (
                    Input(0),
                    Input(1),
                    bias_buffer(view, channels, self.channel_axis, folded=False),
                    Output(0),
                ),
            )
        folded = self.folds and can_fold_zero_point(view)
        scales = requantize_constants(accumulator_scales(view, channels), view.numerics)
        return Call(
            f"{self.struct}_integer_shape",
            {
                **fields,
                **self.extra_fields(view, folded),
                **quantized_fields(view, folded=folded),
            },
            (
                Input(0),
                Input(1),
                bias_buffer(view, channels, self.channel_axis, folded=folded),
                Constant(scales, "multiplier"),
                Output(0),
            ),
        )


class Conv2d(Convolution):
    """Any groups; the zero point of the input is folded into the bias."""

    struct = "conv2d"
    folds = True

    def extra_fields(self, view: OpView, folded: bool) -> dict[str, Field]:
        groups: dict[str, Field] = {"groups": view.params.groups}
        if view.output().quant is None:
            return groups
        return {**groups, "outside_value": view.input(0).zero_point if folded else 0}


class DepthwiseConv2d(Convolution):
    """Any depth multiplier."""

    struct = "depthwise_conv2d"
    channel_axis = 3


class TransposeConv2d(Convolution):
    """Gathers each output, so that no accumulators are kept."""

    struct = "transpose_conv2d"


for _cls in (Conv2d, DepthwiseConv2d, TransposeConv2d):
    for _dtype in DTYPES:
        kernel(
            _cls.struct, target="reference", name=f"{_cls.struct}_{_dtype}__reference",
            source=f"{_cls.struct}.h", dtypes=(_dtype,),
        )(_cls)  # fmt: skip
kernel(
    "conv2d", target="reference", name="conv2d_int32__reference", source="conv2d.h",
    dtypes=("int32",),
)(Conv2d)  # fmt: skip
