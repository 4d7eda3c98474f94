"""Sums of int8 tensors, and int8 from and to float32, for any instruction set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from kiln_targets.simd.isa import Isa
from kiln_targets.simd.plane import Sum, exact_plane

from compiler.graph import OpView, Tensor
from compiler.kernel_fields import clamp_fields
from compiler.kernels import Call, Field, Input, Kernel, Output, kernel
from compiler.numerics import clamp_limits
from compiler.operators.binary import add_left_shift, add_multipliers

SUM_PLANE = 16  # SIMD_SUM_PLANE of add_int8_shape.h


class Int8Sum(Kernel):
    """add and sub of two tensors of one shape; the output may overwrite either."""

    def fits(self, view: OpView) -> bool:
        tensors = (view.input(0), view.input(1), view.output())
        if any(t.dtype != "int8" or t.quant is None or t.quant.per_channel for t in tensors):
            return False
        same = view.input(0).shape == view.input(1).shape == view.output().shape
        return same and not any(t.is_constant for t in tensors) and _in_range(view)

    def call(self, view: OpView) -> Call:
        a, b, output = view.input(0), view.input(1), view.output()
        sign = 1 if view.op.kind == "add" else -1
        first, second, last = add_multipliers(view)
        return Call(
            "simd_add_int8_shape",
            {
                "count": output.elements,
                "a_zero_point": a.zero_point,
                "b_zero_point": b.zero_point,
                "output_zero_point": output.zero_point,
                **clamp_fields(view, view.params.clamp),
                "rounding": int(view.numerics == "fast"),
                "left_shift": add_left_shift(view),
                "b_sign": sign,
                **_fixed_point("a", first),
                **_fixed_point("b", second),
                **_fixed_point("output", last, output.zero_point),
                "a_scale": float(np.float32(a.scale / output.scale)),
                "b_scale": float(np.float32(sign * b.scale / output.scale)),
                "plane_offset": 0.0,
                "plane_nudge": 0.0,
                **_plane_fields(view),
            },
            (Input(0), Input(1), Output(0)),
        )

    def in_place(self, view: OpView) -> Mapping[int, int | tuple[int, ...]]:
        return {0: (0, 1)}

    def cost(self, view: OpView) -> float:
        return float(view.output().elements)


def _plane_fields(view: OpView) -> dict[str, Field]:
    """What makes the sum a plane, where one is proved to be the same."""
    if view.numerics == "fast":
        return {}
    tensors = (view.input(0), view.input(1), view.output())
    low, high = clamp_limits(view.output(), view.params.clamp)
    rule = Sum(
        add_multipliers(view), add_left_shift(view),
        (tensors[0].zero_point, tensors[1].zero_point, tensors[2].zero_point), (low, high),
        1 if view.op.kind == "add" else -1,
    )  # fmt: skip
    plane = exact_plane(rule)
    if plane is None:
        return {}
    return {
        "rounding": SUM_PLANE, "a_scale": plane.slope_a, "b_scale": plane.slope_b,
        "plane_offset": plane.offset, "plane_nudge": plane.nudge,
    }  # fmt: skip


def _fixed_point(name: str, pair: tuple[int, int], zero_point: int = 0) -> dict[str, Field]:
    """``struct simd_fixed_point`` of a multiplier and its shift, which is to the right."""
    multiplier, right = pair[0], -pair[1]
    offset = (1 << right >> 1) + (zero_point << right)
    return {
        f"{name}.multiplier": multiplier, f"{name}.right": right, f"{name}.offset": offset,
    }  # fmt: skip


def _in_range(view: OpView) -> bool:
    """Whether every shift is to the right, and every sum within what the vector code takes."""
    if view.numerics == "fast":
        scales = (view.input(0).scale + view.input(1).scale) / view.output().scale
        return 255 * scales < 2**30
    # Operands are 255 * 2^20 at most; the output's zero point is shifted with their sum.
    pairs = add_multipliers(view)
    return all(shift <= 0 for _, shift in pairs) and pairs[2][1] > -23


class Int8Conversion(Kernel):
    """quantize and dequantize with one scale."""

    def fits(self, view: OpView) -> bool:
        types = (view.input(0).dtype, view.output().dtype)
        quant = self.integers(view).quant
        return types in (("float32", "int8"), ("int8", "float32")) and (
            quant is not None and not quant.per_channel and not view.params.half_even
        )

    def integers(self, view: OpView) -> Tensor:
        return view.output() if view.op.kind == "quantize" else view.input(0)

    def call(self, view: OpView) -> Call:
        integers = self.integers(view)
        fields: dict[str, Field] = {
            "count": integers.elements,
            "scale": float(np.float32(integers.scale)),
            "zero_point": integers.zero_point,
        }
        return Call("simd_quantize_int8_shape", fields, (Input(0), Output(0)))

    def in_place(self, view: OpView) -> Mapping[int, int | tuple[int, ...]]:
        return {0: 0} if view.op.kind == "quantize" else {}


def register(isa: Isa) -> None:
    kernel(
        ("add", "sub"), target=isa.target, name=f"add_int8__{isa.target}", source="add_int8.h",
        dtypes=("int8",),
    )(Int8Sum)  # fmt: skip
    for op, dtype in (("quantize", "float32"), ("dequantize", "int8")):
        kernel(
            op, target=isa.target, name=f"{op}_int8__{isa.target}", source="quantize_int8.h",
            dtypes=(dtype,),
        )(Int8Conversion)  # fmt: skip
