"""Resizing on the reference target, by tables of positions that the compiler makes."""

from __future__ import annotations

import numpy as np

from compiler.graph import DTYPE_BYTES, OpView
from compiler.kernels import Call, Constant, Field, Input, Kernel, Output, kernel
from compiler.operators.resize import Blend, blends, nearest_indices


def resize_fields(view: OpView) -> dict[str, Field]:
    batch, input_height, input_width, _ = view.input(0).shape
    return {
        "batch": batch,
        "input_height": input_height,
        "input_width": input_width,
        "output_height": view.output().shape[1],
        "output_width": view.output().shape[2],
    }


def _same_values(view: OpView) -> bool:
    source, output = view.input(0), view.output()
    return source.dtype == output.dtype and source.quant == output.quant


@kernel(
    "resize_nearest", target="reference", name="resize_nearest_bytes__reference",
    source="movement.h", dtypes=tuple(DTYPE_BYTES),
)  # fmt: skip
class ResizeNearest(Kernel):
    """Whole pixels are copied."""

    def fits(self, view: OpView) -> bool:
        return _same_values(view)

    def call(self, view: OpView) -> Call:
        _, height, width, channels = view.input(0).shape
        output_height, output_width = view.params.output_hw
        rows = nearest_indices(height, output_height, view.params).astype(np.int32)
        columns = nearest_indices(width, output_width, view.params).astype(np.int32)
        return Call(
            "resize_nearest_shape",
            {**resize_fields(view), "pixel_bytes": channels * DTYPE_BYTES[view.input(0).dtype]},
            (Input(0), Constant(rows, "table"), Constant(columns, "table"), Output(0)),
        )


class ResizeBilinear(Kernel):
    """Four neighbours with weights: float32 for floats and uint8, else 10 fraction bits."""

    def fits(self, view: OpView) -> bool:
        return _same_values(view)

    def cost(self, view: OpView) -> float:
        return 8.0 * view.output().elements

    def call(self, view: OpView) -> Call:
        rows, columns = blends(view)
        return Call(
            "resize_bilinear_shape",
            {**resize_fields(view), "channels": view.input(0).shape[3]},
            (
                Input(0), _places(rows), _weights(rows), _places(columns), _weights(columns),
                Output(0),
            ),
        )  # fmt: skip


def _places(blend: Blend) -> Constant:
    return Constant(np.concatenate([blend.lower, blend.upper]).astype(np.int32), "table")


def _weights(blend: Blend) -> Constant:
    weights = np.concatenate([blend.rest, blend.weight])
    return Constant(weights.astype(np.float32 if weights.dtype.kind == "f" else np.int32), "table")


for _dtype in ("float32", "int8", "uint8", "int16"):
    kernel(
        "resize_bilinear", target="reference", name=f"resize_bilinear_{_dtype}__reference",
        source="resize_bilinear.h", dtypes=(_dtype,),
    )(ResizeBilinear)  # fmt: skip
