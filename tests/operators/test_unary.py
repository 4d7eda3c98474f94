"""Unary operators against LiteRT's reference kernels: every 8-bit value, many scales."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.simulator import Simulator
from tests.operators.litert import Case, Spec, compare, every_value
from tests.operators.specs import fixed_spec, like, random_spec
from tests.support.tflite_builder import Builder, run_litert
from tests.support.tflite_check import read

TRIALS = 12


@dataclass(frozen=True)
class Unary:
    """An operator of the schema, and what TFLite demands of its tensors."""

    name: str
    dtypes: tuple[str, ...]
    options: str | None = None
    version: int = 2
    fields: dict[str, Any] = field(default_factory=dict)
    output: tuple[float, int] | None = None  # int8's scale and zero point, if fixed
    is_positive: bool = False  # negative inputs are refused


UNARY = [
    Unary("ABS", ("int8", "int16"), "AbsOptions", 3),
    Unary("SQRT", ("int8",), None, 2, is_positive=True),
    Unary("RSQRT", ("int8",), None, 3, is_positive=True),
    Unary("EXP", ("int8", "int16"), "ExpOptions"),
    Unary("LOG", ("int8",), is_positive=True),
    Unary("LOGISTIC", ("int8", "uint8", "int16"), None, 3, output=(1 / 256, -128)),
    Unary("TANH", ("int8", "uint8", "int16"), None, 3, output=(1 / 128, 0)),
    Unary("HARD_SWISH", ("int8", "uint8"), "HardSwishOptions", 1),
    Unary("LEAKY_RELU", ("int8", "uint8", "int16"), "LeakyReluOptions", 2, {"alpha": 0.13}),
    Unary("LEAKY_RELU", ("int8",), "LeakyReluOptions", 2, {"alpha": 1.7}),
    Unary("ELU", ("int8",), None, 1),
    Unary("GELU", ("int8", "uint8", "int16"), "GeluOptions"),
    Unary("GELU", ("int8",), "GeluOptions", 2, {"approximate": True}),
    Unary("RELU", ("int8", "uint8", "int16")),
    Unary("RELU6", ("int8", "uint8", "int16")),
    Unary("RELU_N1_TO_1", ("int8", "uint8"), None, 1),
    Unary("RELU_0_TO_1", ("int8", "uint8"), None, 1),
]


@pytest.mark.parametrize(
    ("unary", "dtype"),
    [(unary, dtype) for unary in UNARY for dtype in unary.dtypes],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_every_value(unary: Unary, dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = every_value(dtype)
    for _ in range(TRIALS):
        source = random_spec(rng, values.shape, dtype)
        if unary.is_positive:
            source = Spec(values.shape, dtype, source.scale, int(values.min()))
        result = random_spec(rng, values.shape, dtype)
        if unary.output is not None:
            scale = 1 / 128 if dtype == "int16" else unary.output[0]
            result = fixed_spec(values.shape, dtype, scale, unary.output[1])
        if unary.name == "HARD_SWISH" and result.scale < source.scale / 128:
            continue  # TFLite refuses to scale up
        case = Case(unary.name, [source], [result], unary.options, unary.version, unary.fields)
        compare(case, tmp_path, rng, [values])


def test_scales_that_are_powers_of_two(tmp_path: Path) -> None:
    """16-bit logistic and tanh treat them apart."""
    rng = np.random.default_rng(4)
    values = every_value("int16")
    for name in ("LOGISTIC", "TANH"):
        for exponent in (-13, -12, -11, -10):
            for nearly in (1.0, 1.0004, 1.01):
                source = Spec(values.shape, "int16", nearly * 2.0**exponent)
                result = Spec(values.shape, "int16", 2.0**-15)
                compare(Case(name, [source], [result], None, 3), tmp_path, rng, [values])


@pytest.mark.parametrize("name", ["RELU", "LEAKY_RELU", "ABS"])
def test_one_scale(name: str, tmp_path: Path) -> None:
    """Input and output of the same scale need no rounding."""
    rng = np.random.default_rng(5)
    values = every_value("int8")
    unary = next(each for each in UNARY if each.name == name)
    for _ in range(TRIALS):
        source = random_spec(rng, values.shape, "int8")
        case = Case(
            name, [source], [like(source, values.shape)], unary.options, unary.version, unary.fields
        )
        compare(case, tmp_path, rng, [values])


CASTS = {"float32": 0, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9}


@pytest.mark.parametrize("target", CASTS)
@pytest.mark.parametrize("source", CASTS)
def test_cast(source: str, target: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    values = None
    if source == "float32":  # C leaves open what floats outside the target's range become
        values = rng.uniform(0 if target == "uint8" else -3, 3, 50).astype(np.float32)
    case = Case(
        "CAST", [Spec((50,), source)], [Spec((50,), target)], "CastOptions", 1,
        {"inDataType": CASTS[source], "outDataType": CASTS[target]},
    )  # fmt: skip
    compare(case, tmp_path, rng, [values])


@pytest.mark.parametrize("scale", [1 / 512, 1 / 256, 1 / 128, 1 / 64])
def test_logistic_near_a_half(scale: float) -> None:
    """Steps of the output's size: TFLite rounds within its float32 function, which shows here."""
    b = Builder()
    x = b.tensor("x", (256,), "int8", scale=scale, zero_point=-28)
    y = b.tensor("y", (256,), "int8", scale=1 / 256, zero_point=-128)
    b.op("LOGISTIC", [x], [y], None, 2)
    data = b.build([x], [y])
    every = np.arange(-128, 128).astype(np.int8)
    found = Simulator(read(data)).run({"x": every})["y"]
    np.testing.assert_array_equal(found, run_litert(data, {"x": every})[0])
