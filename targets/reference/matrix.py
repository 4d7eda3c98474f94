"""Matrix products of the reference target, in float32, int8, uint8 and int16."""

from __future__ import annotations

from compiler.graph import NO_CLAMP, OpView
from compiler.kernel_fields import (
    accumulator_scales,
    bias_buffer,
    can_fold_zero_point,
    clamp_fields,
    quantized_fields,
    requantize_constants,
    rounding_field,
    weighted_dtypes_fit,
)
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, kernel
from compiler.operators.matrix import matmul_scale
from compiler.strides import MAX_RANK, broadcast_strides, collapse

DTYPES = ("float32", "int8", "uint8", "int16")


def _is_plain(view: OpView) -> bool:
    """Whether the kernel's numbers stand for themselves."""
    return view.input(0).dtype in ("float32", "int32")


class FullyConnected(Kernel):
    """Rows of the input times every row of the weights."""

    def fits(self, view: OpView) -> bool:
        return weighted_dtypes_fit(view) and _is_plain(view) == (view.output().quant is None)

    def call(self, view: OpView) -> Call:
        channels, depth = view.input(1).shape
        fields: dict[str, Field] = {
            "rows": view.input(0).elements // depth,
            "depth": depth,
            "output_channels": channels,
        }
        if view.output().quant is None:
            return Call(
                "fully_connected_float32_shape",
                {**fields, **clamp_fields(view, view.params.clamp)},
                (Input(0), Input(1), bias_buffer(view, channels, 0, folded=False), Output(0)),
            )
        folded = can_fold_zero_point(view)
        scales = requantize_constants(accumulator_scales(view, channels), view.numerics)
        return Call(
            "fully_connected_integer_shape",
            {**fields, **quantized_fields(view, folded=folded)},
            (
                Input(0),
                Input(1),
                bias_buffer(view, channels, 0, folded=folded),
                Constant(scales, "multiplier"),
                Output(0),
            ),
        )


def _matmul_fields(view: OpView) -> dict[str, Field]:
    """The walk over batches, and the strides of rows, depth and columns."""
    a, b, params = view.input(0).shape, view.input(1).shape, view.params
    rows, columns = view.output().shape[-2:]
    depth = a[-2] if params.transpose_a else a[-1]
    batch = view.output().shape[:-2]
    # Strides of the batch dimensions count matrices; the extra axis is the walk's inner row.
    a_steps, b_steps = (
        tuple(step * shape[-1] * shape[-2] for step in broadcast_strides(shape[:-2], batch))
        for shape in (a, b)
    )
    extent, a_stride, b_stride = collapse(batch, a_steps, b_steps) if batch else ((), (), ())
    return {
        "rank": len(extent) + 1,
        "extent": (*extent, 1),
        "a_stride": (*a_stride, 0),
        "b_stride": (*b_stride, 0),
        "rows": rows,
        "depth": depth,
        "columns": columns,
        "output_channels": 1,
        "a_row": 1 if params.transpose_a else depth,
        "a_depth": rows if params.transpose_a else 1,
        "b_depth": 1 if params.transpose_b else columns,
        "b_column": depth if params.transpose_b else 1,
    }


class BatchMatmul(Kernel):
    """Both operands are activations (or constants) of the same type."""

    def fits(self, view: OpView) -> bool:
        return (
            view.input(0).dtype == view.input(1).dtype == view.output().dtype
            and _is_plain(view) == (view.output().quant is None)
            and len(view.output().shape) <= MAX_RANK
        )

    def call(self, view: OpView) -> Call:
        fields = _matmul_fields(view)
        if view.output().quant is None:
            return Call(
                "batch_matmul_float32_shape",
                {**fields, **clamp_fields(view, NO_CLAMP)},
                (Input(0), Input(1), Output(0)),
            )
        scales = requantize_constants(matmul_scale(view), view.numerics)
        return Call(
            "batch_matmul_integer_shape",
            {
                **fields,
                "input_zero_point": view.input(0).zero_point,
                "weight_zero_point": view.input(1).zero_point,
                "output_zero_point": view.output().zero_point,
                **clamp_fields(view, NO_CLAMP),
                **rounding_field(view),
            },
            (Input(0), Input(1), Constant(scales, "multiplier"), Output(0)),
        )


for _cls, _name in ((FullyConnected, "fully_connected"), (BatchMatmul, "batch_matmul")):
    for _dtype in DTYPES:
        kernel(
            _name, target="reference", name=f"{_name}_{_dtype}__reference", source=f"{_name}.h",
            dtypes=(_dtype,),
        )(_cls)  # fmt: skip
kernel(
    "batch_matmul", target="reference", name="batch_matmul_int32__reference",
    source="batch_matmul.h", dtypes=("int32",),
)(BatchMatmul)  # fmt: skip
