"""The ``quantize`` rules of the built-in operators; TFLite's int8 specification decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compiler.errors import ModelError
from compiler.graph import OpView, Quantization, Tensor
from compiler.quantization.choose import (
    BIAS_LIMIT,
    WIDE_BIAS_LIMIT,
    channel_scales,
    quantized_bias,
    quantized_weight,
    scales_for_bias,
)
from compiler.quantization.rule import QuantizeRule
from compiler.registry import quantize


class WideRule(QuantizeRule):
    """An operator that 16-bit activations suit as well."""

    dtypes: ClassVar[tuple[str, ...]] = ("int8", "int16")


@dataclass(frozen=True)
class WeightedRule(WideRule):
    """Input, constant weight with output channels along ``channel_axis``, optional bias."""

    channel_axis: int

    def applies(self, view: OpView) -> bool:
        bias = view.optional(2)
        return view.input(1).is_constant and (bias is None or bias.is_constant)

    def activations(self, view: OpView) -> Sequence[int]:
        return (0,)

    def constants(self, view: OpView) -> Mapping[int, Tensor]:
        weight, bias, input_scale = view.input(1), view.optional(2), view.input(0).scale
        assert weight.data is not None
        for name, constant in (("weights", weight), ("bias", bias)):
            values = None if constant is None else constant.data
            if values is not None and not np.isfinite(values).all():
                raise ModelError(
                    f"operator '{view.op.name}': NaN or infinity in its {name}, which no integer "
                    f"stands for; repair the model, or do not quantize it"
                )
        if weight.quant is not None:  # the grid that its values lie on already
            scales = np.array(weight.quant.scale)
        else:
            scales = channel_scales(weight.data, self.channel_axis)
        is_wide = view.input(0).dtype == "int16"
        limit = WIDE_BIAS_LIMIT if is_wide else BIAS_LIMIT
        scales = scales_for_bias(scales, None if bias is None else bias.data, input_scale, limit)
        result = {1: quantized_weight(weight, scales, self.channel_axis)}
        if bias is not None:
            bias_dtype = "int64" if is_wide else "int32"
            result[2] = quantized_bias(bias, scales, input_scale, bias_dtype)
        return result


@dataclass(frozen=True)
class FixedOutputRule(QuantizeRule):
    """An output whose range the operator itself knows: int8's quantization, and int16's scale."""

    scale: float
    zero_point: int
    wide_scale: float | None = None

    @property
    def dtypes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("int8",) if self.wide_scale is None else ("int8", "int16")

    def fixed(self, view: OpView, output: int, dtype: str = "int8") -> Quantization | None:
        if dtype == "int16" and self.wide_scale is not None:
            return Quantization((self.wide_scale,), (0,))
        return Quantization((self.scale,), (self.zero_point,))


class EqualScalesRule(WideRule):
    """Elements are moved or compared, never computed with."""

    equal_scales: ClassVar[bool] = True


class PadRule(EqualScalesRule):
    """The padding value must be representable."""

    def extremes(self, view: OpView) -> tuple[float, ...]:
        return (view.params.value,) if view.params.mode == "constant" else ()


class ClampRule(EqualScalesRule):
    """What a clamp cuts off need not be representable."""

    narrows: ClassVar[bool] = True


class StateRule(EqualScalesRule):
    """A state's initial value must be representable, too."""

    def extremes(self, view: OpView) -> tuple[float, ...]:
        data = view.output().data
        return () if data is None else (float(data.min()), float(data.max()))


quantize.of("conv2d", "fully_connected", "transpose_conv2d")(WeightedRule(channel_axis=0))
quantize.of("depthwise_conv2d")(WeightedRule(channel_axis=3))
quantize.of("add", "sub", "mul", "mean", "batch_matmul")(WideRule())
quantize.of(
    "abs", "neg", "erf", "hard_swish", "hard_sigmoid", "softplus", "softsign", "mish", "silu",
    "relu_0_to_1", "leaky_relu", "elu", "gelu", "prelu",
)(WideRule())  # fmt: skip
quantize.of(
    "reshape", "transpose", "slice", "concat", "split", "gather", "tile", "broadcast_to",
    "depth_to_space", "space_to_depth", "resize_nearest", "resize_bilinear", "select",
    "average_pool2d", "max_pool2d", "reduce_max", "reduce_min", "maximum", "minimum",
)(EqualScalesRule())  # fmt: skip
quantize.of("pad")(PadRule())
quantize.of("assign_state", "read_state")(StateRule())
quantize.of("clamp")(ClampRule())
quantize.of("arg_max", "arg_min")(WideRule())
quantize.of("softmax", "logistic")(FixedOutputRule(1 / 256, -128, 1 / 32768))
quantize.of("tanh")(FixedOutputRule(1 / 128, 0, 1 / 32768))
quantize.of("l2_normalization")(FixedOutputRule(1 / 128, 0))
quantize.of("log_softmax")(FixedOutputRule(16 / 256, 127))
