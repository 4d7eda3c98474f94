"""Pooling of the reference target, in float32, int8, uint8 and int16."""

from __future__ import annotations

from compiler.graph import OpView
from compiler.kernel_fields import clamp_fields, window_fields
from compiler.kernels import Call, Field, Input, Kernel, Output, kernel

DTYPES = ("float32", "int8", "uint8", "int16")


class Pool(Kernel):
    """Input and output share scale and zero point."""

    def fits(self, view: OpView) -> bool:
        return view.input(0).dtype == view.output().dtype

    def cost(self, view: OpView) -> float:
        height, width = view.params.kernel
        return float(view.output().elements * height * width)

    def call(self, view: OpView) -> Call:
        is_float = view.input(0).dtype == "float32"
        integer: dict[str, Field] = {} if is_float else {"zero_point": view.input(0).zero_point}
        return Call(
            "pool_float32_shape" if is_float else "pool_integer_shape",
            {
                **window_fields(view, view.params.kernel),
                "count_include_pad": int(view.params.count_include_pad),
                **integer,
                **clamp_fields(view, view.params.clamp),
            },
            (Input(0), Output(0)),
        )


for _op in ("average_pool2d", "max_pool2d"):
    for _dtype in DTYPES:
        kernel(
            _op, target="reference", name=f"{_op}_{_dtype}__reference", source="pooling.h",
            dtypes=(_dtype,),
        )(Pool)  # fmt: skip
