"""Max pooling of int8 images whose channels fill a vector."""

from __future__ import annotations

from kiln_targets.simd.isa import Isa

from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields, window_fields
from compiler.kernels import Call, Input, Kernel, Output, kernel


class Int8MaxPool(Kernel):
    channels: int  # bytes of a vector

    def fits(self, view: OpView) -> bool:
        """Every window has a tap inside, which is where its largest value starts from."""
        return (
            view.input(0).dtype == view.output().dtype
            and view.input(0).shape[-1] >= self.channels
            and view.output().elements > 0
            and _all_windows_reach_inside(view)
        )

    def call(self, view: OpView) -> Call:
        fields = {
            **window_fields(view, view.params.kernel), **clamp_fields(view, view.params.clamp),
        }  # fmt: skip
        return Call("simd_max_pool_int8_shape", fields, (Input(0), Output(0)))

    def cost(self, view: OpView) -> float:
        height, width = view.params.kernel
        return view.output().elements * height * width / self.channels


def _all_windows_reach_inside(view: OpView) -> bool:
    params = view.params
    axes = zip(
        view.input(0).shape[1:3], view.output().shape[1:3], params.kernel, params.stride,
        params.dilation, (params.padding[0], params.padding[2]), strict=True,
    )  # fmt: skip
    return all(
        any(0 <= i * stride - pad + tap * dilation < size for tap in range(taps))
        for size, outputs, taps, stride, dilation, pad in axes
        for i in range(outputs)
    )


def register(isa: Isa) -> None:
    decorate = kernel(
        "max_pool2d", target=isa.target, name=f"max_pool2d_int8__{isa.target}",
        source="max_pool_int8.h", dtypes=("int8",),
    )  # fmt: skip
    # SIMD_BYTES of each target's max_pool_int8.h.
    decorate(type("Int8MaxPool", (Int8MaxPool,), {"channels": min(4 * isa.lanes, 32)}))
