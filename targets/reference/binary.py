"""Binary operators of the reference target, with broadcasting, and select."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from compiler.graph import DTYPE_BYTES, NO_CLAMP, OpView
from compiler.kernel_fields import clamp_fields
from compiler.kernels import Call, Field, Input, Kernel, Output, kernel
from compiler.numerics import quantize_multiplier
from compiler.operators.binary import (
    COMPARE_LEFT_SHIFT,
    COMPARISONS,
    DIFFERENCE_LEFT_SHIFT,
    Multiplier,
    add_left_shift,
    add_multipliers,
    compare_multipliers,
    difference_multipliers,
    prelu_multipliers,
    product_scale,
    quotient_multiplier,
)
from compiler.operators.elementwise import ARITHMETIC
from compiler.strides import MAX_RANK, broadcast_strides, collapse

QUANTIZED = ("int8", "uint8", "int16")
LOGIC = ("logical_and", "logical_or", "logical_xor")
PLAIN = (
    *ARITHMETIC, "maximum", "minimum", "pow", "squared_difference", "floor_div", "floor_mod",
    "truncated_mod",
)  # fmt: skip
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right")
BY_REALS = ("maximum", "minimum", "squared_difference")


def broadcast_fields(view: OpView, *names: str) -> dict[str, Field]:
    """Rank and extents of the walk, and the strides of each input, under ``names``."""
    output = view.output().shape
    strides = [broadcast_strides(t.shape, output) for t in view.inputs if t is not None]
    extent, *steps = collapse(output, *strides)
    return {
        "rank": len(extent),
        "extent": extent,
        **{f"{name}_stride": step for name, step in zip(names, steps, strict=True)},
    }


def clamp_of(view: OpView) -> tuple[float, float]:
    clamp: tuple[float, float] = getattr(view.params, "clamp", NO_CLAMP)
    return clamp


class Broadcast(Kernel):
    """The output may overwrite an input that is not repeated."""

    def fits(self, view: OpView) -> bool:
        a, b = view.input(0), view.input(1)
        return a.dtype == b.dtype and len(view.output().shape) <= MAX_RANK

    def in_place(self, view: OpView) -> Mapping[int, int | tuple[int, ...]]:
        output = view.output()
        whole = tuple(
            i for i, t in enumerate(view.inputs)
            if t is not None and t.shape == output.shape
            and DTYPE_BYTES[t.dtype] == DTYPE_BYTES[output.dtype]
        )  # fmt: skip
        return {0: whole} if whole else {}

    def call(self, view: OpView) -> Call:
        return Call(
            "binary_shape", broadcast_fields(view, "a", "b"), (Input(0), Input(1), Output(0))
        )


def _unquantized(view: OpView) -> bool:
    return all(t is None or t.quant is None for t in (*view.inputs, *view.outputs))


class Plain(Broadcast):
    """Numbers that stand for themselves, with a clamp."""

    def fits(self, view: OpView) -> bool:
        same = view.output().dtype == view.input(0).dtype
        return super().fits(view) and same and _unquantized(view)

    def call(self, view: OpView) -> Call:
        low, high = clamp_of(view)
        limits: dict[str, Field] = {"clamp_low": float(low), "clamp_high": float(high)}
        dtype = view.output().dtype
        if dtype != "float32":
            info = np.iinfo(dtype)
            limits = {
                "clamp_low": int(np.ceil(low)) if low > info.min else int(info.min),
                "clamp_high": int(np.floor(high)) if high < info.max else int(info.max),
            }
        return Call(
            "binary_float32_shape" if dtype == "float32" else "binary_integer_shape",
            {**broadcast_fields(view, "a", "b"), **limits},
            (Input(0), Input(1), Output(0)),
        )


class Compare(Broadcast):
    """Comparisons of numbers as they are, and logic."""

    def fits(self, view: OpView) -> bool:
        a, b = view.input(0), view.input(1)
        same = a.quant == b.quant and (a.quant is None or compare_multipliers(view) is None)
        return super().fits(view) and same and view.output().dtype == "bool"


def quantized_fields(view: OpView) -> dict[str, Field]:
    a, b, output = view.input(0), view.input(1), view.output()
    limits: dict[str, Field] = {"clamp_low": 0, "clamp_high": 1}
    return {
        **broadcast_fields(view, "a", "b"),
        "a_zero_point": a.zero_point,
        "b_zero_point": b.zero_point,
        "output_zero_point": output.zero_point,
        **(limits if output.quant is None else clamp_fields(view, clamp_of(view))),
    }


class Quantized(Broadcast):
    """All three are quantized, in one type."""

    def fits(self, view: OpView) -> bool:
        tensors = (view.input(0), view.input(1), view.output())
        return (
            super().fits(view)
            and all(t.quant is not None for t in tensors)
            and view.output().dtype == view.input(0).dtype
        )


class Add(Quantized):
    """add and sub."""

    def call(self, view: OpView) -> Call:
        sign = 1 if view.op.kind == "add" else -1
        first, second, last = add_multipliers(view)
        output = view.output()
        return Call(
            "add_integer_shape",
            {
                **quantized_fields(view),
                "rounding": int(view.numerics == "fast"),
                "left_shift": add_left_shift(view),
                "b_sign": sign,
                "a_multiplier": first[0],
                "a_shift": first[1],
                "b_multiplier": second[0],
                "b_shift": second[1],
                "output_multiplier": last[0],
                "output_shift": last[1],
                "a_scale": float(np.float32(view.input(0).scale / output.scale)),
                "b_scale": float(np.float32(sign * view.input(1).scale / output.scale)),
            },
            (Input(0), Input(1), Output(0)),
        )


class Mul(Quantized):
    """The product of integers, rescaled."""

    def call(self, view: OpView) -> Call:
        scale = product_scale(view)
        multiplier, shift = quantize_multiplier(scale)
        return Call(
            "mul_integer_shape",
            {
                **quantized_fields(view),
                "rounding": int(view.numerics == "fast"),
                "multiplier": multiplier,
                "shift": shift,
                "scale": float(np.float32(scale)),
            },
            (Input(0), Input(1), Output(0)),
        )


class Raw(Quantized):
    """maximum and minimum of integers that all have the same scale and zero point."""

    def fits(self, view: OpView) -> bool:
        tensors = (view.input(0), view.input(1), view.output())
        return super().fits(view) and len({(t.scale, t.zero_point) for t in tensors}) == 1


def real_fields(view: OpView) -> dict[str, Field]:
    output = view.output()
    return {
        **quantized_fields(view),
        "a_scale": view.input(0).scale,
        "b_scale": view.input(1).scale,
        "output_scale": 1.0 if output.quant is None else output.scale,
    }


class ByReals(Quantized):
    """Dequantized, computed in float32, quantized."""

    def cost(self, view: OpView) -> float:
        return 20 * super().cost(view)

    def call(self, view: OpView) -> Call:
        return Call("by_reals_shape", real_fields(view), (Input(0), Input(1), Output(0)))


def scaled_call(
    view: OpView,
    left_shift: int = 0,
    a: Multiplier = (0, 0),
    b: Multiplier = (0, 0),
    output: Multiplier = (0, 0),
) -> Call:
    """A kernel on operands that are scaled in fixed point."""
    fields: dict[str, Field] = {
        **quantized_fields(view),
        "left_shift": left_shift,
        "a_multiplier": a[0],
        "a_shift": a[1],
        "b_multiplier": b[0],
        "b_shift": b[1],
        "output_multiplier": output[0],
        "output_shift": output[1],
    }
    return Call("scaled_integer_shape", fields, (Input(0), Input(1), Output(0)))


class CompareScaled(Broadcast):
    """Comparisons of quantized integers in fixed point."""

    def fits(self, view: OpView) -> bool:
        scaled = compare_multipliers(view) is not None
        return super().fits(view) and scaled and view.output().dtype == "bool"

    def call(self, view: OpView) -> Call:
        multipliers = compare_multipliers(view)
        assert multipliers is not None
        return scaled_call(view, COMPARE_LEFT_SHIFT, *multipliers)


class SquaredDifference(Quantized):
    """Of 8-bit integers."""

    def call(self, view: OpView) -> Call:
        return scaled_call(view, DIFFERENCE_LEFT_SHIFT, *difference_multipliers(view))


class Prelu(Quantized):
    """The slope's product is rescaled at once."""

    def call(self, view: OpView) -> Call:
        kept, multiplied = prelu_multipliers(view)
        return scaled_call(view, a=kept, output=multiplied)


class Divide(Quantized):
    """By a reciprocal in fixed point."""

    def call(self, view: OpView) -> Call:
        return scaled_call(view, output=quotient_multiplier(view))


class Select(Broadcast):
    """The operands and the output share scale and zero point."""

    def fits(self, view: OpView) -> bool:
        a, b, output = view.input(1), view.input(2), view.output()
        return (
            DTYPE_BYTES[a.dtype] == self.element_bytes
            and a.dtype == b.dtype == output.dtype
            and a.quant == b.quant == output.quant
            and len(output.shape) <= MAX_RANK
        )

    element_bytes = 0

    def call(self, view: OpView) -> Call:
        return Call(
            "select_shape",
            broadcast_fields(view, "condition", "a", "b"),
            (Input(0), Input(1), Input(2), Output(0)),
        )


def _register(cls: type[Kernel], ops: tuple[str, ...], dtype: str, name: str, source: str) -> None:
    kernel(
        ops, target="reference", name=f"{name}_{dtype}__reference", source=source, dtypes=(dtype,)
    )(cls)


for _dtype in ("float32", "int32", "int64"):
    for _op in (*PLAIN, *(("prelu",) if _dtype == "float32" else BITWISE)):
        _register(Plain, (_op,), _dtype, _op, "binary.h")
for _dtype in ("float32", "int32", "int64", *QUANTIZED, "bool"):
    for _op in COMPARISONS:
        _register(Compare, (_op,), _dtype, _op, "binary.h")
for _op in LOGIC:
    _register(Compare, (_op,), "bool", _op, "binary.h")
for _dtype in QUANTIZED:
    _register(Add, ("add", "sub"), _dtype, "add", "binary_quantized.h")
    _register(Mul, ("mul",), _dtype, "mul", "binary_quantized.h")
    for _op in ("maximum", "minimum"):
        _register(Raw, (_op,), _dtype, f"{_op}_raw", "binary_quantized.h")
    for _op in BY_REALS:
        if (_op, _dtype) not in (("squared_difference", "int8"), ("squared_difference", "uint8")):
            _register(ByReals, (_op,), _dtype, _op, "binary_quantized.h")
    for _cls, _op in ((Prelu, "prelu"), (Divide, "div")):
        _register(_cls, (_op,), _dtype, _op, "binary_quantized.h")
    for _op in COMPARISONS:
        _register(CompareScaled, (_op,), _dtype, f"{_op}_scaled", "binary_quantized.h")
for _dtype in ("int8", "uint8"):
    _register(
        SquaredDifference, ("squared_difference",), _dtype, "squared_difference_fixed",
        "binary_quantized.h",
    )  # fmt: skip
for _size in (1, 2, 4, 8):
    kernel(
        "select", target="reference", name=f"select_bytes{_size}__reference", source="select.h",
        dtypes=("bool",),
    )(type("Select", (Select,), {"element_bytes": _size}))  # fmt: skip
