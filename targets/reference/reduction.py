"""Reductions of the reference target, and the search for an extreme."""

from __future__ import annotations

import math

from compiler.graph import NO_CLAMP, OpView
from compiler.kernels import Call, Field, Input, Kernel, Output, kernel
from compiler.numerics import clamp_limits
from compiler.operators.reduction import mean_multiplier
from compiler.strides import MAX_RANK, collapse, row_major

SOURCE = "reduction.h"
QUANTIZED = ("int8", "uint8", "int16")


def reduce_fields(view: OpView) -> dict[str, Field]:
    """``KILN_REDUCE_MEMBERS``: the axes that stay and those that go."""
    shape, axes = view.input(0).shape, view.params.axes
    stride = row_major(shape)
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    extent, steps = collapse([shape[a] for a in kept], [stride[a] for a in kept])
    reduced_extent, reduced_steps = collapse([shape[a] for a in axes], [stride[a] for a in axes])
    return {
        "rank": len(extent),
        "extent": extent,
        "stride": steps,
        "reduced_rank": len(reduced_extent),
        "reduced_extent": reduced_extent,
        "reduced_stride": reduced_steps,
        "reduced_count": reduced_count(view),
    }


def reduced_count(view: OpView) -> int:
    """How many elements become one."""
    return math.prod(view.input(0).shape[axis] for axis in view.params.axes)


class Reduce(Kernel):
    """Numbers that stand for themselves, or extremes of integers with one scale."""

    def fits(self, view: OpView) -> bool:
        source, output = view.input(0), view.output()
        return (
            source.dtype == output.dtype
            and (source.quant is None or view.op.kind in ("reduce_max", "reduce_min"))
            and source.quant == output.quant
            and len(source.shape) <= MAX_RANK
        )

    def cost(self, view: OpView) -> float:
        return float(view.input(0).elements)

    def call(self, view: OpView) -> Call:
        return Call("reduce_shape", reduce_fields(view), (Input(0), Output(0)))


class SumInteger(Reduce):
    """Integers to their sum or mean in another scale."""

    def fits(self, view: OpView) -> bool:
        source, output = view.input(0), view.output()
        return (
            source.dtype == output.dtype
            and None not in (source.quant, output.quant)
            and len(source.shape) <= MAX_RANK
        )

    def call(self, view: OpView) -> Call:
        source, output, count = view.input(0), view.output(), reduced_count(view)
        divisor = count if view.op.kind == "mean" else 1
        multiplier, shift = mean_multiplier(source.scale / output.scale, divisor)
        low, high = clamp_limits(output, NO_CLAMP)
        return Call(
            "mean_integer_shape",
            {
                **reduce_fields(view),
                "offset": -source.zero_point * count,
                "multiplier": multiplier,
                "shift": shift,
                "output_zero_point": output.zero_point,
                "low": low,
                "high": high,
            },
            (Input(0), Output(0)),
        )


for _dtype in ("float32", "int32", "int64"):
    for _op in ("sum", "reduce_prod", "mean"):
        kernel(
            _op, target="reference", name=f"{_op}_{_dtype}__reference", source=SOURCE,
            dtypes=(_dtype,),
        )(Reduce)  # fmt: skip
for _dtype in ("float32", "int32", "int64", *QUANTIZED):
    for _op in ("reduce_max", "reduce_min"):
        kernel(
            _op, target="reference", name=f"{_op}_{_dtype}__reference", source=SOURCE,
            dtypes=(_dtype,),
        )(Reduce)  # fmt: skip
for _op in ("reduce_any", "reduce_all"):
    kernel(_op, target="reference", name=f"{_op}_bool__reference", source=SOURCE, dtypes=("bool",))(
        Reduce
    )
for _dtype in QUANTIZED:
    kernel(
        ("mean", "sum"), target="reference", name=f"mean_{_dtype}__reference", source=SOURCE,
        dtypes=(_dtype,),
    )(SumInteger)  # fmt: skip


class Arg(Kernel):
    """The first of equal elements wins."""

    output_dtype = ""

    def fits(self, view: OpView) -> bool:
        return view.output().dtype == self.output_dtype

    def cost(self, view: OpView) -> float:
        return float(view.input(0).elements)

    def call(self, view: OpView) -> Call:
        shape, axis = view.input(0).shape, view.params.axis
        return Call(
            "arg_shape",
            {
                "outer": math.prod(shape[:axis]),
                "extent": shape[axis],
                "inner": math.prod(shape[axis + 1 :]),
            },
            (Input(0), Output(0)),
        )


for _dtype in ("float32", *QUANTIZED, "int32", "int64"):
    for _op in ("arg_max", "arg_min"):
        for _index in ("int32", "int64"):
            kernel(
                _op, target="reference", name=f"{_op}_{_dtype}_{_index}__reference",
                source="arg.h", dtypes=(_dtype,),
            )(type("Arg", (Arg,), {"output_dtype": _index}))  # fmt: skip
