"""quantize, dequantize, requantize and cast of the reference target."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.elementwise import CastParams, ClampParams
from compiler.operators.quantization import QuantizeParams
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import one_op, tensor, values

load_builtins()
#: Optimised as well: results overwrite inputs of other sizes.
BOTH = ("host-sanitized", "host")
INTEGERS = ("int8", "uint8", "int16", "int32")
ZERO_POINTS = {"int8": (-128, 127, 3), "uint8": (0, 255, 100), "int16": (0,), "int32": (0,)}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_quantize(dtype: str) -> None:
    cases = []
    for zero_point in ZERO_POINTS[dtype]:
        x = values(np.random.default_rng(1), (2, 3, 31), "float32") * 4
        ties = (np.arange(-20, 20, dtype=np.float32) + np.float32(0.5)) * np.float32(0.125)
        odd = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 0.0], np.float32)
        x.flat[:40], x.flat[40:46] = ties, odd
        view = one_op(
            "quantize", QuantizeParams(), [tensor("x", x.shape, "float32")],
            [tensor("y", x.shape, dtype, 0.125, zero_point)],
        )  # fmt: skip
        cases.append(Case(kernel_named(f"quantize_{dtype}__reference"), view, (x,)))
    for machine in BOTH:
        check(cases, MACHINES[machine])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_dequantize(dtype: str) -> None:
    cases = []
    for zero_point in ZERO_POINTS[dtype]:
        x = values(np.random.default_rng(1), (3, 37), dtype)
        view = one_op(
            "dequantize", QuantizeParams(), [tensor("x", x.shape, dtype, 0.1, zero_point)],
            [tensor("y", x.shape, "float32")],
        )  # fmt: skip
        cases.append(Case(kernel_named(f"dequantize_{dtype}__reference"), view, (x,)))
    for machine in BOTH:
        check(cases, MACHINES[machine], tolerance=0.0)


@pytest.mark.parametrize("source", INTEGERS)
def test_requantize(source: str) -> None:
    cases = []
    ways = ((0.03, "requantize"), (0.5, "requantize"), (0.07, "clamp"))
    for output in INTEGERS:
        kernel = kernel_named(f"requantize_{source}_{output}__reference")
        zero_points = product(ZERO_POINTS[source], ZERO_POINTS[output])
        for (zero_point, other), (scale, kind) in product(zero_points, ways):
            params = QuantizeParams() if kind == "requantize" else ClampParams(0.0, 6.0)
            x = values(np.random.default_rng(1), (41,), source)
            x = x // 2**12 if source == "int32" else x
            view = one_op(
                kind, params, [tensor("x", x.shape, source, 0.1, zero_point)],
                [tensor("y", x.shape, output, scale, other)],
            )  # fmt: skip
            cases.append(Case(kernel, view, (x,)))
    for machine in BOTH:
        check(cases, MACHINES[machine])


CASTS = ("int8", "uint8", "int16", "int32", "int64", "float32", "float16", "bool")


def cast_input(dtype: str, output: str) -> np.ndarray:
    if not dtype.startswith("float"):
        return values(np.random.default_rng(4), (50,), dtype)
    if output in ("float16", "float32"):
        halves = np.arange(65536, dtype=np.uint16)[::37].view(np.float16)
        halves = halves[np.isfinite(halves)]
        if dtype == "float16":
            return halves
        with np.errstate(over="ignore"):
            between = np.nextafter(halves.astype(np.float32), np.float32(np.inf))
        middles = halves.astype(np.float32) * np.float32(1 + 2**-11)
        extremes = np.array([1e9, -1e9, 65519.9, 65520, 6e-8, 2.9e-8, np.inf], np.float32)
        return np.concatenate([halves.astype(np.float32), between, middles, extremes])
    limits = {"int8": 127, "uint8": 255, "bool": 1}.get(output, 3000)
    return np.linspace(-limits if output != "uint8" else 0, limits, 57).astype(dtype)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("source", CASTS)
def test_cast(source: str) -> None:
    cases = []
    for output in CASTS:
        x = cast_input(source, output)
        view = one_op(
            "cast", CastParams(output), [tensor("x", x.shape, source)],
            [tensor("y", x.shape, output)],
        )  # fmt: skip
        stem = "uint8" if source == "bool" else source
        cases.append(Case(kernel_named(f"cast_{stem}_{output}__reference"), view, (x,)))
    for machine in BOTH:
        check(cases, MACHINES[machine], tolerance=0.0)
