"""Functions of 16-bit integers on the reference target, without a table of every value."""

from __future__ import annotations

import numpy as np

from compiler.graph import OpView
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, kernel
from compiler.numerics import clamp_limits, quantize_multiplier
from compiler.operators.elementwise import UNARY
from compiler.operators.lookup import STEPS, interpolate
from compiler.operators.sigmoid import input_multiplier, logistic_table
from compiler.operators.unary import float32_ratio
from compiler.registry import reference
from compiler.tables import of_shape

SOURCE = "int16.h"


def _is_int16(view: OpView) -> bool:
    source, output = view.input(0), view.output()
    return source.dtype == output.dtype == "int16" and None not in (source.quant, output.quant)


class ByInterpolation(Kernel):
    """A function that is linear between every 128th value: 513 entries say all of it."""

    def fits(self, view: OpView) -> bool:
        return _is_int16(view) and interpolation_entries(view) is not None

    def in_place(self, view: OpView) -> dict[int, int]:
        return {0: 0}

    def cost(self, view: OpView) -> float:
        return 2.0 * view.output().elements

    def call(self, view: OpView) -> Call:
        table = interpolation_entries(view)
        assert table is not None
        return Call(
            "interpolate_int16_shape",
            {"count": view.output().elements},
            (Input(0), Constant(table, "table"), Output(0)),
        )


def interpolation_entries(view: OpView) -> np.ndarray | None:
    """(513,) int16 from which interpolation gives the operator for every value; None if none do.

    The entries are what the operator gives for every 128th value; the last, which no value
    reaches, is found by trying.
    """
    codes = np.arange(-32768, 32768).astype(np.int16)
    wanted = reference[view.op.kind](of_shape(view, codes.shape), codes)
    assert isinstance(wanted, np.ndarray)
    entries = np.append(wanted[:: 65536 // STEPS], wanted[-1]).astype(np.int64)
    for guess in range(-2, 3):
        slope = int(wanted[-1]) - int(entries[-2])
        last = int(entries[-2]) + round(slope * 128 / 127) + guess
        if not -32768 <= last <= 32767:
            continue
        entries[-1] = last
        if np.array_equal(interpolate(entries, codes), wanted):
            return entries.astype(np.int16)
    return None


kernel(
    (*(kind for kind in UNARY if kind != "logical_not"), "elu", "gelu"),
    target="reference", name="interpolate_int16__reference", source=SOURCE, dtypes=("int16",),
)(ByInterpolation)  # fmt: skip


class SCurve(Kernel):
    """logistic and tanh by one table of the logistic curve."""

    power_of_two_shifts: tuple[int, ...] = (0,)

    def fits(self, view: OpView) -> bool:
        return _is_int16(view)

    def in_place(self, view: OpView) -> dict[int, int]:
        return {0: 0}

    def cost(self, view: OpView) -> float:
        return 4.0 * view.output().elements

    def call(self, view: OpView) -> Call:
        multiplier, right = input_multiplier(view.input(0).scale, self.power_of_two_shifts)
        fields: dict[str, Field] = {
            "count": view.output().elements,
            "multiplier": multiplier,
            "right_shift": right,
        }
        table = Constant(logistic_table().astype(np.uint16), "table")
        return Call("s_curve_int16_shape", fields, (Input(0), table, Output(0)))


class Tanh(SCurve):
    power_of_two_shifts = (0, 1)


for _op, _cls in (("logistic", SCurve), ("tanh", Tanh)):
    kernel(_op, target="reference", name=f"{_op}_int16__reference", source=SOURCE,
           dtypes=("int16",))(_cls)  # fmt: skip


class TwoSlopes(Kernel):
    """leaky_relu and abs: one multiplier for each sign."""

    def fits(self, view: OpView) -> bool:
        return _is_int16(view)

    def in_place(self, view: OpView) -> dict[int, int]:
        return {0: 0}

    def cost(self, view: OpView) -> float:
        return 4.0 * view.output().elements

    def call(self, view: OpView) -> Call:
        source, output = view.input(0), view.output()
        is_abs = view.op.kind == "abs"
        positive = quantize_multiplier(float32_ratio(view))
        if is_abs and source.scale == output.scale:
            positive = (1 << 30, 1)  # exactly 1
        alpha = 1.0 if is_abs else float(np.float32(view.params.alpha))
        negative = positive if is_abs else quantize_multiplier(float32_ratio(view, alpha))
        low, high = clamp_limits(output, (-np.inf, np.inf))
        fields: dict[str, Field] = {
            "count": output.elements,
            "absolute": int(is_abs),
            "input_zero_point": source.zero_point,
            "output_zero_point": output.zero_point,
            "multiplier": (positive[0], negative[0]),
            "shift": (positive[1], negative[1]),
            "low": low,
            "high": high,
        }
        return Call("two_slopes_int16_shape", fields, (Input(0), Output(0)))


kernel(("abs", "leaky_relu"), target="reference", name="two_slopes_int16__reference",
       source=SOURCE, dtypes=("int16",))(TwoSlopes)  # fmt: skip
