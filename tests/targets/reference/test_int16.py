"""16-bit functions without a table of every value: every value, against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.elementwise import EluParams, GeluParams, LeakyReluParams, UnaryParams
from compiler.schedule import choose_kernel
from compiler.tables import of_shape
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import one_op, tensor

load_builtins()
EVERY = np.arange(-32768, 32768).astype(np.int16)
LIMIT = 1 / 32768
#: Kernel, operator, parameters, scales of input and output.
CASES: list[tuple[str, str, Any, float, float]] = [
    ("interpolate_int16", "exp", UnaryParams(), 1e-4, 1e-3),
    ("interpolate_int16", "exp", UnaryParams(), 3e-4, 0.5),
    ("interpolate_int16", "gelu", GeluParams(), 2e-4, 2e-4),
    ("interpolate_int16", "gelu", GeluParams(True), 1e-4, 3e-5),
    ("interpolate_int16", "elu", EluParams(), 2e-4, 3e-4),
    ("interpolate_int16", "hard_swish", UnaryParams(), 2e-4, 3e-4),
    ("interpolate_int16", "silu", UnaryParams(), 4e-4, 4e-4),
    ("logistic_int16", "logistic", UnaryParams(), 2.0**-12, LIMIT),
    ("logistic_int16", "logistic", UnaryParams(), 0.00031, LIMIT),
    ("logistic_int16", "logistic", UnaryParams(), 0.013, LIMIT),
    ("tanh_int16", "tanh", UnaryParams(), 2.0**-11, LIMIT),
    ("tanh_int16", "tanh", UnaryParams(), 2.0**-12, LIMIT),
    ("tanh_int16", "tanh", UnaryParams(), 1e-4, LIMIT),
    ("two_slopes_int16", "leaky_relu", LeakyReluParams(0.13), 1e-3, 7e-4),
    ("two_slopes_int16", "leaky_relu", LeakyReluParams(-1.7), 1e-3, 3e-3),
    ("two_slopes_int16", "abs", UnaryParams(), 1e-3, 1e-3),
    ("two_slopes_int16", "abs", UnaryParams(), 1e-3, 4e-4),
]


@pytest.mark.parametrize("machine", ["host-sanitized", "cortex-m4"])
def test_every_value(machine: str) -> None:
    MACHINES[machine].require()
    cases = []
    for name, kind, params, scale, output_scale in CASES:
        kernel = kernel_named(f"{name}__reference")
        x = tensor("x", EVERY.shape, "int16", scale)
        view = one_op(kind, params, [x], [tensor("y", EVERY.shape, "int16", output_scale)])
        assert kernel.fits(view), name
        assert choose_kernel(of_shape(view, (100,)), ("reference",)) is kernel
        cases.append(Case(kernel, view, (EVERY,)))
    check(cases, MACHINES[machine])


def test_what_is_not_linear_between_entries_is_looked_up() -> None:
    """abs bends at 0 only, but rounds everywhere."""
    view = one_op(
        "abs", UnaryParams(), [tensor("x", (4,), "int16", 1e-3)],
        [tensor("y", (4,), "int16", 7.7e-4)],
    )  # fmt: skip
    assert not kernel_named("interpolate_int16__reference").fits(view)
