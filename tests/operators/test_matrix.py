"""Matrix products against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.operators.litert import Case, Spec, compare
from tests.operators.test_convolution import accumulator_scale, activation, weight_specs

#: x's shape and the number of outputs.
SHAPES = [((1, 8), 4), ((3, 17), 5), ((1, 1), 1), ((2, 3, 5), 7), ((4, 640), 12)]


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
def test_fully_connected(dtype: str, with_bias: bool, per_channel: bool, tmp_path: Path) -> None:
    if dtype == "uint8" and per_channel:
        pytest.skip("TFLite has no per-channel uint8 weights")
    rng = np.random.default_rng(1)
    scale = 0.02 if dtype != "int16" else 0.0002
    for fused, (shape, outputs) in enumerate(SHAPES):
        x = activation(rng, shape, dtype, scale)
        weights = weight_specs(
            rng, dtype, (outputs, shape[-1]), 0, scale,
            per_channel=per_channel, with_bias=with_bias,
        )  # fmt: skip
        keep = len(shape) > 2
        y = activation(rng, (*shape[:-1], outputs), dtype, accumulator_scale(shape[-1], dtype))
        fields = {"keepNumDims": keep, "fusedActivationFunction": fused % 4}
        inputs = [x, *weights]
        compare(
            Case("FULLY_CONNECTED", inputs, [y], "FullyConnectedOptions", 9, fields), tmp_path, rng
        )


def test_fully_connected_int16_needs_more_than_32_bits(tmp_path: Path) -> None:
    """Sums beyond 2^32, times a 31-bit multiplier, are still rounded once."""
    rng = np.random.default_rng(2)
    for depth, bias in ((3000, None), (3000, 4_000_000_000), (640, -40_000_000_000)):
        x = Spec((4, depth), "int16", 2.0**-12)
        data = rng.integers(0, 128, (9, depth))
        weights = [Spec((9, depth), "int8", 0.0123, data=data)]
        if bias is not None:
            values = rng.integers(bias - 10**6, bias, 9)
            weights.append(Spec((9,), "int64", 2.0**-12 * 0.0123, data=values))
        y = Spec((4, 9), "int16", 9.7)
        case = Case("FULLY_CONNECTED", [x, *weights], [y], "FullyConnectedOptions", 9)
        compare(case, tmp_path, rng)


#: Batch dimensions of a and of b.
BATCHES = [((), ()), ((2,), (2,)), ((1,), (3,)), ((2, 1), (1, 3))]


@pytest.mark.parametrize("adjoint", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "int16"])
def test_batch_matmul(dtype: str, adjoint: tuple[bool, bool], tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scale = 0.02 if dtype != "int16" else 0.0002
    for batch_a, batch_b in BATCHES:
        rows, depth, columns = (int(n) for n in rng.integers(1, 9, 3))
        a = (*batch_a, *((depth, rows) if adjoint[0] else (rows, depth)))
        b = (*batch_b, *((columns, depth) if adjoint[1] else (depth, columns)))
        batch = np.broadcast_shapes(batch_a, batch_b)
        out_scale = accumulator_scale(depth, "int8") * 1.5 if dtype != "int16" else 0.0004 * depth
        case = Case(
            "BATCH_MATMUL",
            [activation(rng, a, dtype, scale), activation(rng, b, dtype, scale * 0.7)],
            [activation(rng, (*batch, rows, columns), dtype, out_scale)],
            "BatchMatMulOptions", 4, {"adjX": adjoint[0], "adjY": adjoint[1]},
        )  # fmt: skip
        compare(case, tmp_path, rng)
