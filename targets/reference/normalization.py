"""What normalises along one axis, on the reference target: softmax and its kin."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from compiler.fixed_point import exp_on_negative_values
from compiler.graph import OpView
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, kernel
from compiler.numerics import multiply_quantized
from compiler.operators.normalization import (
    DIFFERENCE_BITS,
    UNIT_BITS,
    has_fixed_point,
    log_softmax_reverse,
    softmax_16_multiplier,
    softmax_16_tables,
    softmax_constants,
)

SOURCE = "softmax.h"
INTEGER_SOURCE = "normalization_integer.h"
#: Elements along the axis whose exponentials still add up in 12 integer bits.
MOST_INTEGERS = 4095


class AlongAxis(Kernel):
    """float32: the axis is read in full before anything of it is overwritten."""

    def fits(self, view: OpView) -> bool:
        return view.output().dtype == view.input(0).dtype

    def in_place(self, view: OpView) -> Mapping[int, int]:
        return {0: 0}

    def cost(self, view: OpView) -> float:
        return 10.0 * view.output().elements

    def fields(self, view: OpView) -> dict[str, Field]:
        """The axis as (outer, extent, inner)."""
        shape = view.input(0).shape
        axis = getattr(view.params, "axis", len(shape) - 1)
        return {
            "outer": math.prod(shape[:axis]),
            "extent": shape[axis],
            "inner": math.prod(shape[axis + 1 :]),
        }


class SoftmaxFloat(AlongAxis):
    """softmax and log_softmax."""

    def call(self, view: OpView) -> Call:
        beta = float(getattr(view.params, "beta", 1.0))
        return Call("softmax_shape", {**self.fields(view), "beta": beta}, (Input(0), Output(0)))


class L2Normalization(AlongAxis):
    """Along the last axis."""

    def call(self, view: OpView) -> Call:
        fields = self.fields(view)
        del fields["inner"]
        fields["epsilon"] = float(view.params.epsilon)
        return Call("l2_normalization_shape", fields, (Input(0), Output(0)))


def exponential_tables(view: OpView, beta: float = 1.0) -> tuple[Constant, Constant]:
    """Exponentials (0 where they are too small) and scaled differences of 256 distances."""
    multiplier, shift, least = softmax_constants(view.input(0).scale, beta)
    difference = -np.arange(256, dtype=np.int64)
    scaled = multiply_quantized(difference, multiplier, shift)
    table = exp_on_negative_values(scaled, DIFFERENCE_BITS)
    live = np.where(difference >= least, table, 0).astype(np.int32)
    return Constant(live, "table"), Constant(scaled.astype(np.int32), "table")


class SoftmaxInteger(AlongAxis):
    """8 bits in fixed point, with the exponentials of all 256 distances in a table."""

    def fits(self, view: OpView) -> bool:
        extent = view.input(0).shape[view.params.axis]
        return has_fixed_point(view) and extent <= MOST_INTEGERS

    def call(self, view: OpView) -> Call:
        exponentials, _ = exponential_tables(view, view.params.beta)
        return Call("softmax_integer_shape", self.fields(view), (Input(0), exponentials, Output(0)))


class LogSoftmaxInteger(SoftmaxInteger):
    """8 bits in fixed point."""

    def call(self, view: OpView) -> Call:
        scale = view.input(0).scale
        multiplier, shift = log_softmax_reverse(scale)
        limits: dict[str, Field] = {
            "least": softmax_constants(scale)[2] - 1,
            "multiplier": multiplier,
            "shift": shift,
        }
        return Call(
            "log_softmax_integer_shape", {**self.fields(view), **limits},
            (Input(0), *exponential_tables(view), Output(0)),
        )  # fmt: skip


class SoftmaxInt16(AlongAxis):
    """16 bits, by interpolation in two tables."""

    def fits(self, view: OpView) -> bool:
        return has_fixed_point(view) and view.input(0).shape[view.params.axis] < 65536

    def call(self, view: OpView) -> Call:
        multiplier, shift = softmax_16_multiplier(view.input(0).scale, view.params.beta)
        tables = (Constant(table.astype(np.int16), "table") for table in softmax_16_tables())
        return Call(
            "softmax_int16_shape",
            {**self.fields(view), "multiplier": multiplier, "shift": shift},
            (Input(0), *tables, Output(0)),
        )


class L2NormalizationInteger(AlongAxis):
    """8 bits along the last axis."""

    def fits(self, view: OpView) -> bool:
        return has_fixed_point(view) and view.input(0).shape[-1] * 255**2 < 2**31

    def call(self, view: OpView) -> Call:
        before = UNIT_BITS if view.input(0).dtype == "uint8" else 0
        fields = self.fields(view)
        del fields["inner"]
        return Call(
            "l2_normalization_integer_shape",
            {
                **fields,
                "input_zero_point": view.input(0).zero_point,
                "output_zero_point": view.output().zero_point,
                "bits_before": before,
                "bits_while": UNIT_BITS - before,
            },
            (Input(0), Output(0)),
        )


for _op in ("softmax", "log_softmax"):
    kernel(
        _op, target="reference", name=f"{_op}_float32__reference", source=SOURCE,
        dtypes=("float32",),
    )(SoftmaxFloat)  # fmt: skip
kernel(
    "l2_normalization", target="reference", name="l2_normalization_float32__reference",
    source=SOURCE, dtypes=("float32",),
)(L2Normalization)  # fmt: skip
for _dtype in ("int8", "uint8"):
    kernel(
        "softmax", target="reference", name=f"softmax_{_dtype}__reference", source=SOURCE,
        dtypes=(_dtype,),
    )(SoftmaxInteger)  # fmt: skip
    for _name, _cls in (
        ("log_softmax", LogSoftmaxInteger), ("l2_normalization", L2NormalizationInteger)
    ):  # fmt: skip
        kernel(
            _name, target="reference", name=f"{_name}_{_dtype}__reference", source=INTEGER_SOURCE,
            dtypes=(_dtype,),
        )(_cls)  # fmt: skip
kernel(
    "softmax", target="reference", name="softmax_int16__reference", source=INTEGER_SOURCE,
    dtypes=("int16",),
)(SoftmaxInt16)  # fmt: skip
