"""Between types, on the reference target: quantize, dequantize, requantize, cast."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from compiler.graph import DTYPE_BYTES, NO_CLAMP, OpView
from compiler.kernels import Call, Field, Input, Kernel, Output, kernel
from compiler.numerics import clamp_limits, quantize_multiplier

SOURCE = "convert.h"
QUANTIZED = ("int8", "uint8", "int16")
CASTS = ("int8", "uint8", "int16", "int32", "int64", "float32", "float16", "bool")


class Conversion(Kernel):
    """One element becomes another, which is no larger where it overwrites it."""

    output_dtype = ""

    def fits(self, view: OpView) -> bool:
        return view.output().dtype == self.output_dtype

    def in_place(self, view: OpView) -> Mapping[int, int]:
        source, output = (DTYPE_BYTES[t.dtype] for t in (view.input(0), view.output()))
        return {0: 0} if output == source or output == 1 else {}


def _to(cls: type[Conversion], output_dtype: str) -> type[Conversion]:
    return type(cls.__name__, (cls,), {"output_dtype": output_dtype})


class Quantize(Conversion):
    """float32 to integers."""

    half_even = False

    def fits(self, view: OpView) -> bool:
        return super().fits(view) and view.params.half_even == self.half_even

    def call(self, view: OpView) -> Call:
        output = view.output()
        low, high = clamp_limits(output, NO_CLAMP)
        fields: dict[str, Field] = {
            "count": output.elements,
            "scale": output.scale,
            "zero_point": output.zero_point,
            "low": low,
            "high": high,
        }
        return Call("quantize_shape", fields, (Input(0), Output(0)))


class QuantizeEven(Quantize):
    """The same with ties to the even integer."""

    half_even = True


class Dequantize(Conversion):
    """Integers with one scale to float32."""

    def fits(self, view: OpView) -> bool:
        quant = view.input(0).quant
        return super().fits(view) and quant is not None and not quant.per_channel

    def call(self, view: OpView) -> Call:
        source = view.input(0)
        fields: dict[str, Field] = {
            "count": source.elements,
            "scale": source.scale,
            "zero_point": source.zero_point,
            "low": 0,
            "high": 0,
        }
        return Call("quantize_shape", fields, (Input(0), Output(0)))


class Requantize(Conversion):
    """Integers to another scale or type; a clamp is one with limits."""

    def fits(self, view: OpView) -> bool:
        return super().fits(view) and None not in (view.input(0).quant, view.output().quant)

    def call(self, view: OpView) -> Call:
        source, output, params = view.input(0), view.output(), view.params
        clamp = (params.low, params.high) if view.op.kind == "clamp" else NO_CLAMP
        low, high = clamp_limits(output, clamp)
        ratio = source.scale / output.scale
        if view.op.kind == "clamp":  # which divides in float32
            ratio = float(np.float32(source.scale) / np.float32(output.scale))
        mantissa, shift = quantize_multiplier(ratio)
        return Call(
            "requantize_shape",
            {
                "count": output.elements,
                "input_zero_point": source.zero_point,
                "output_zero_point": output.zero_point,
                "multiplier": mantissa,
                "shift": shift,
                "low": low,
                "high": high,
            },
            (Input(0), Output(0)),
        )


class Cast(Conversion):
    """numpy's astype; floats saturate."""

    def call(self, view: OpView) -> Call:
        return Call("cast_shape", {"count": view.output().elements}, (Input(0), Output(0)))


for _dtype in QUANTIZED:
    kernel(
        "quantize", target="reference", name=f"quantize_{_dtype}__reference", source=SOURCE,
        dtypes=("float32",),
    )(_to(Quantize, _dtype))  # fmt: skip
    kernel(
        "quantize", target="reference", name=f"quantize_even_{_dtype}__reference", source=SOURCE,
        dtypes=("float32",),
    )(_to(QuantizeEven, _dtype))  # fmt: skip
for _dtype in (*QUANTIZED, "int32"):
    kernel(
        "dequantize", target="reference", name=f"dequantize_{_dtype}__reference", source=SOURCE,
        dtypes=(_dtype,),
    )(_to(Dequantize, "float32"))  # fmt: skip
    for _output in (*QUANTIZED, "int32"):
        kernel(
            ("requantize", "clamp"), target="reference",
            name=f"requantize_{_dtype}_{_output}__reference", source=SOURCE, dtypes=(_dtype,),
        )(_to(Requantize, _output))  # fmt: skip
for _dtype in CASTS:
    for _output in CASTS:
        _kinds = ("cast", "dequantize")[: 2 if (_dtype, _output) == ("float16", "float32") else 1]
        if _dtype != "bool":
            kernel(
                _kinds, target="reference", name=f"cast_{_dtype}_{_output}__reference",
                source=SOURCE, dtypes=(_dtype, "bool") if _dtype == "uint8" else (_dtype,),
            )(_to(Cast, _output))  # fmt: skip
