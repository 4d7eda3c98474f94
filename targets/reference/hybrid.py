"""Float operators with int8 weights on the reference target: rows are quantized into scratch."""

from __future__ import annotations

import numpy as np

from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields, window_fields
from compiler.kernels import Buffer, Call, Constant, Field, Input, Kernel, Output, Scratch, kernel
from compiler.operators.hybrid import row_elements


class Hybrid(Kernel):
    """Integer sums, float results."""

    channel_axis = 0

    def fits(self, view: OpView) -> bool:
        weight, bias = view.input(1), view.optional(2)
        return (
            weight.dtype == "int8" and weight.is_constant and view.output().dtype == "float32"
            and (bias is None or bias.dtype == "float32")
        )  # fmt: skip

    def fields(self, view: OpView) -> dict[str, Field]:
        raise NotImplementedError

    def call(self, view: OpView) -> Call:
        weight = view.input(1)
        channels = weight.shape[self.channel_axis]
        assert weight.quant is not None
        scales = np.broadcast_to(np.array(weight.quant.scale, np.float32), (channels,))
        no_bias = view.optional(2) is None
        bias: Buffer = Constant(np.zeros(channels, np.float32), "bias") if no_bias else Input(2)
        fields: dict[str, Field] = {
            **self.fields(view),
            "row_elements": row_elements(view),
            "symmetric": int(view.params.symmetric),
            **clamp_fields(view, view.params.clamp),
        }
        buffers = (
            Input(0), Input(1), bias, Constant(scales.copy(), "multiplier"),
            Scratch(row_elements(view)), Output(0),
        )  # fmt: skip
        return Call(f"{view.op.kind}_shape", fields, buffers)


class HybridFullyConnected(Hybrid):
    def fields(self, view: OpView) -> dict[str, Field]:
        channels, depth = view.input(1).shape
        return {"rows": view.input(0).elements // depth, "output_channels": channels}


class HybridConv2d(Hybrid):
    def fields(self, view: OpView) -> dict[str, Field]:
        _, height, width, depth = view.input(1).shape
        return {**window_fields(view, (height, width)), "group_channels": depth}


class HybridDepthwise(Hybrid):
    channel_axis = 3

    def fields(self, view: OpView) -> dict[str, Field]:
        _, height, width, _ = view.input(1).shape
        return {**window_fields(view, (height, width))}


for _cls, _op in (
    (HybridFullyConnected, "hybrid_fully_connected"), (HybridConv2d, "hybrid_conv2d"),
    (HybridDepthwise, "hybrid_depthwise_conv2d"),
):  # fmt: skip
    kernel(_op, target="reference", name=f"{_op}__reference", source="hybrid.h",
           dtypes=("float32",))(_cls)  # fmt: skip
