"""Depths whose sums of words need several segments: pixel rows alone and channels beyond two."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.matrix import FullyConnectedParams
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import constant, one_op, tensor

load_builtins()
DEPTH = 4000


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("channels", [2, 4, 7])
def test_segments(channels: int, rows: int) -> None:
    MACHINES["cortex-m4"].require()
    kernel = kernel_named("conv2d_int8__cortex_m_any")
    rng = np.random.default_rng(channels)
    data = rng.integers(-127, 128, (channels, DEPTH)).astype(np.int8)
    weight = constant("w", data, [0.01])
    bias = constant("b", rng.integers(-999, 999, channels).astype(np.int32), [0.0001])
    x = tensor("x", (rows, DEPTH), "int8", 0.01, -128)
    y = tensor("y", (rows, channels), "int8", 1.5, 3)
    view = one_op("fully_connected", FullyConnectedParams(), [x, weight, bias], [y])
    segment = kernel.call(view).fields["segment"]
    assert isinstance(segment, int) and segment < DEPTH
    cases = [
        Case(kernel, view, (values, weight.data, bias.data))
        for values in (
            rng.integers(-128, -120, (rows, DEPTH)).astype(np.int8),
            rng.integers(-128, 128, (rows, DEPTH)).astype(np.int8),
            np.full((rows, DEPTH), -128, np.int8),
        )
    ]
    check(cases, MACHINES["cortex-m4"])
