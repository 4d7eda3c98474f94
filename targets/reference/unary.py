"""Unary elementwise operators of the reference target: by formula, or by a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from compiler.graph import DTYPE_BYTES, OpView
from compiler.kernels import Call, Constant, Input, Kernel, Output, kernel
from compiler.operators.elementwise import UNARY
from compiler.registry import reference
from compiler.tables import of_shape

SOURCE = "unary.h"
WITH_PARAMS = ("clamp", "leaky_relu", "elu", "gelu")
INTEGER = ("abs", "neg", "square", "sign", "clamp")


def parameters(view: OpView) -> tuple[Any, Any]:
    """What the operator calls ``a`` and ``b`` in C."""
    params = view.params
    match view.op.kind:
        case "clamp":
            return params.low, params.high
        case "leaky_relu" | "elu":
            return params.alpha, 0.0
    return 0.0, 0.0


class UnaryKernel(Kernel):
    """What all have in common: one input, one output of the same shape and size."""

    def in_place(self, view: OpView) -> Mapping[int, int]:
        return {0: 0}


class UnaryFloat(UnaryKernel):
    """float32 to float32, by the formula in the kernel."""

    approximate: bool | None = None  # gelu's parameter

    def fits(self, view: OpView) -> bool:
        if self.approximate is not None and view.params.approximate != self.approximate:
            return False
        return view.output().dtype == "float32"

    def call(self, view: OpView) -> Call:
        a, b = parameters(view)
        return Call(
            "unary_float32_shape",
            {"count": view.output().elements, "a": float(a), "b": float(b)},
            (Input(0), Output(0)),
        )


class ExactGelu(UnaryFloat):
    approximate = False


class TanhGelu(UnaryFloat):
    approximate = True


for _kind in (*UNARY, *WITH_PARAMS):
    if _kind not in ("logical_not", "gelu"):
        kernel(
            _kind, target="reference", name=f"{_kind}_float32__reference", source=SOURCE,
            dtypes=("float32",),
        )(UnaryFloat)  # fmt: skip
for _cls, _name in ((ExactGelu, "gelu"), (TanhGelu, "gelu_tanh")):
    kernel(
        "gelu", target="reference", name=f"{_name}_float32__reference", source=SOURCE,
        dtypes=("float32",),
    )(_cls)  # fmt: skip


class UnaryInteger(UnaryKernel):
    """int32 and int64 that stand for themselves."""

    def fits(self, view: OpView) -> bool:
        source, output = view.input(0), view.output()
        return source.dtype == output.dtype and source.quant is None and output.quant is None

    def call(self, view: OpView) -> Call:
        info = np.iinfo(view.output().dtype)
        low, high = (int(np.clip(limit, info.min, info.max)) for limit in parameters(view))
        return Call(
            "unary_integer_shape",
            {"count": view.output().elements, "a": low, "b": high},
            (Input(0), Output(0)),
        )


for _kind in INTEGER:
    for _dtype in ("int32", "int64"):
        kernel(
            _kind, target="reference", name=f"{_kind}_{_dtype}__reference", source=SOURCE,
            dtypes=(_dtype,),
        )(UnaryInteger)  # fmt: skip


@kernel(
    "logical_not", target="reference", name="logical_not_bool__reference", source=SOURCE,
    dtypes=("bool",),
)  # fmt: skip
class LogicalNot(UnaryKernel):
    """0 becomes 1, 1 becomes 0."""

    def call(self, view: OpView) -> Call:
        return Call("count_shape", {"count": view.output().elements}, (Input(0), Output(0)))


def lookup_table(view: OpView) -> np.ndarray:
    """The output for every bit pattern of the input, by the reference attribute."""
    source = view.input(0)
    bits = 8 * DTYPE_BYTES[source.dtype]
    patterns = np.arange(2**bits).astype(f"uint{bits}").view(source.dtype)
    result = reference[view.op.kind](of_shape(view, patterns.shape), patterns)
    assert isinstance(result, np.ndarray)
    return result


class Lookup(UnaryKernel):
    """Any function of a quantized element to one of the same size."""

    entry_bytes = 1

    def fits(self, view: OpView) -> bool:
        quantized = view.input(0).quant is not None and view.output().quant is not None
        return quantized and DTYPE_BYTES[view.output().dtype] == self.entry_bytes

    def call(self, view: OpView) -> Call:
        return Call(
            "count_shape",
            {"count": view.output().elements},
            (Input(0), Constant(lookup_table(view), "table"), Output(0)),
        )


class LookupInt16(Lookup):
    """A table of 128 KiB: what fits and costs less comes first."""

    entry_bytes = 2

    def cost(self, view: OpView) -> float:
        return super().cost(view) + 65536


LOOKED_UP = (
    *(kind for kind in UNARY if kind != "logical_not"), *WITH_PARAMS, "requantize", "lookup",
)  # fmt: skip
kernel(
    LOOKED_UP, target="reference", name="lookup_int8__reference", source=SOURCE,
    dtypes=("int8", "uint8"),
)(Lookup)  # fmt: skip
kernel(
    LOOKED_UP, target="reference", name="lookup_int16__reference", source=SOURCE,
    dtypes=("int16",),
)(LookupInt16)  # fmt: skip
