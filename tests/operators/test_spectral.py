"""Fourier transforms of audio against LiteRT, and the C kernel against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from compiler.errors import UnsupportedError
from compiler.graph import Tensor
from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.spectral import RfftParams
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import one_op, tensor
from tests.support.tflite_builder import Builder
from tests.support.tflite_check import assert_same_as_litert, read

load_builtins()


def spectrum_model(last: str, samples: int, length: int, rows: int = 1) -> bytes:
    """As tf.signal.rfft becomes: a row more, the transform, without that row again."""
    b = Builder()
    x = b.tensor("x", (3, samples), "float32")
    axis = b.tensor("axis", (), "int32", data=np.array(-2))
    longer = b.tensor("longer", (3, 1, samples), "float32")
    b.op("EXPAND_DIMS", [x, axis], [longer], "ExpandDimsOptions")
    lengths = b.tensor("lengths", (2,), "int32", data=np.array([rows, length]))
    bins = length // 2 + 1
    spectrum = b.tensor("spectrum", (3, 1, bins), "complex64")
    b.op("RFFT2D", [longer, lengths], [spectrum], "Rfft2dOptions")
    squeezed = b.tensor("squeezed", (3, bins), "complex64")
    b.op("SQUEEZE", [spectrum], [squeezed], "SqueezeOptions", squeezeDims=[-2])
    y = b.tensor("y", (3, bins), "float32")
    b.op(last, [squeezed], [y])
    return b.build([x], [y])


@pytest.mark.parametrize("last", ["COMPLEX_ABS", "REAL", "IMAG"])
@pytest.mark.parametrize(("samples", "length"), [(16, 16), (13, 16), (400, 512), (8, 2)])
def test_spectrum(last: str, samples: int, length: int) -> None:
    assert_same_as_litert(spectrum_model(last, samples, length), tolerance=1e-6)


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match="transform of 4 rows"):
        read(spectrum_model("REAL", 8, 8, rows=4))
    with pytest.raises(UnsupportedError, match=r"NEG 'y' .*complex numbers"):
        read(spectrum_model("NEG", 8, 8))


@pytest.mark.parametrize("machine", ["host-sanitized", "cortex-m4"])
def test_kernel(machine: str) -> None:
    MACHINES[machine].require()
    kernel, cases = kernel_named("rfft_float32__reference"), []
    for samples, length in ((2, 2), (4, 4), (5, 8), (20, 16), (64, 64), (400, 512), (1024, 1024)):
        x = np.random.default_rng(length).normal(0, 1, (2, samples)).astype(np.float32)
        view = one_op(
            "rfft", RfftParams(length), [Tensor("x", x.shape, "float32")],
            [tensor("y", (2, length // 2 + 1, 2), "float32")],
        )  # fmt: skip
        cases.append(Case(kernel, view, (x,)))
    check(cases, MACHINES[machine], tolerance=1e-6)
