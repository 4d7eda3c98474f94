"""fully_connected of one row, of Cortex-M in int8; others are convolutions of 1x1."""

from __future__ import annotations

from kiln_targets.cortex_m.convolution import Int8Convolution, weights_of
from kiln_targets.cortex_m.packing import channels_of, pack_channels, pack_words

from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields, rounding_field
from compiler.kernels import Call, Constant, Input, Output, kernel
from compiler.registry import count_macs


class Int8Row(Int8Convolution):
    """Reads the input where it lies, and needs no scratch."""

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


for _mode in ("single", "fast"):
    for _clamped in (False, True):
        kernel(
            "fully_connected", target="cortex_m", source="fully_connected_int8.h",
            dtypes=("int8",),
            name=f"fully_connected_int8__cortex_m_{_mode}{'_clamped' if _clamped else ''}",
        )(type("", (Int8Row,), {"mode": _mode, "clamped": _clamped}))  # fmt: skip
