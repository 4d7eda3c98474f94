"""What normalises along one axis, on the reference target: softmax and its kin."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from compiler.fixed_point import exp_on_negative_values
from compiler.graph import OpView
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, kernel
from compiler.numerics import multiply_quantized
from compiler.operators.reduction import SOFTMAX_INTEGER_BITS, softmax_constants

SOURCE = "softmax.h"
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


class SoftmaxInteger(AlongAxis):
    """8 bits in fixed point, with the exponentials of all 256 distances in a table."""

    def fits(self, view: OpView) -> bool:
        extent = view.input(0).shape[view.params.axis]
        return super().fits(view) and extent <= MOST_INTEGERS

    def call(self, view: OpView) -> Call:
        multiplier, shift, least = softmax_constants(view.input(0).scale, view.params.beta)
        difference = -np.arange(256, dtype=np.int64)
        scaled = multiply_quantized(difference, multiplier, shift)
        table = exp_on_negative_values(scaled, SOFTMAX_INTEGER_BITS)
        live = np.where(difference >= least, table, 0).astype(np.int32)
        return Call(
            "softmax_integer_shape", self.fields(view),
            (Input(0), Constant(live, "table"), Output(0)),
        )  # fmt: skip


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
