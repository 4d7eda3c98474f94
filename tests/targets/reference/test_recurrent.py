"""Kernels of recurrent layers, states apart and in place, against the reference attribute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compiler.graph import DTYPE_BYTES
from compiler.importers import read_model
from compiler.kernels import kernels_of
from tests.operators.test_recurrent import LSTMS, TANH, lstm_model, rnn_model, svdf_model
from tests.support.kernel_harness import MACHINES, Case, check


def case_of(data: bytes, folder: Path, rng: np.random.Generator) -> Case:
    """The recurrent operator of a model, in the middle of a series."""
    path = folder / "model.tflite"
    path.write_bytes(data)
    graph = read_model(path)
    view = next(graph.view(op) for op in graph.ops if op.kind in ("lstm", "rnn", "svdf"))
    arrays: list[np.ndarray | None] = []
    for tensor in view.inputs:
        if tensor is None or tensor.is_constant:
            arrays.append(None if tensor is None else tensor.data)
        elif tensor.dtype == "float32":
            arrays.append(rng.normal(0, 0.5, tensor.shape).astype(np.float32))
        else:
            top = 2 ** (8 * DTYPE_BYTES[tensor.dtype] - 1)
            arrays.append(rng.integers(-top, top, tensor.shape).astype(tensor.dtype))
    fitting = [
        k for k in kernels_of(view.op.kind, "reference")
        if view.input(0).dtype in k.dtypes and k.fits(view)
    ]  # fmt: skip
    (kernel,) = fitting
    return Case(kernel, view, tuple(arrays))


@pytest.mark.parametrize("machine", ["host-sanitized", "cortex-m4"])
def test_recurrent(machine: str, tmp_path: Path) -> None:
    MACHINES[machine].require()
    cases = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        models = [lstm_model(rng, "float32", **extras)[0] for extras in LSTMS]
        models += [lstm_model(rng, "int8", **extras)[0] for extras in LSTMS[:4]]
        models += [svdf_model(rng, dtype, bias=seed > 0, activation=1)
                   for dtype in ("float32", "int8")]  # fmt: skip
        models += [rnn_model(rng, kind, (0, 1, TANH)[seed])[0] for kind in ("time major", "RNN")]
        cases += [case_of(data, tmp_path, rng) for data in models]
    assert any(case.shares() == (1, 18) for case in cases)
    check(cases, MACHINES[machine])
