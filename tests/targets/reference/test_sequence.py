"""Recurrent cells and grid sampling, in float32, against the reference attribute."""

from __future__ import annotations

import itertools

import numpy as np

from compiler.graph import OpView, Tensor
from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.grid import MODES, PADDINGS, GridSampleParams
from compiler.operators.sequence import GATES, RecurrentParams
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import one_op

load_builtins()

FUNCTIONS = {"rnn": ("relu",), "gru": ("logistic", "tanh"), "lstm": ("logistic", "tanh", "tanh")}


def _noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _recurrent(params: RecurrentParams, steps: int, batch: int, hidden: int) -> Case:
    gates = GATES[params.cell]
    arrays: list[np.ndarray | None] = [
        _noise(steps, batch, gates * hidden),
        _noise(gates * hidden, hidden, seed=1),
        _noise(batch, hidden, seed=2),
    ]
    if params.cell == "lstm":
        arrays += [_noise(batch, hidden, seed=3), _noise(3 * hidden, seed=4)]
    if params.linear_before_reset:
        arrays += [None, None, _noise(hidden, seed=5)]
    tensors = {
        f"x{i}": Tensor(f"x{i}", a.shape, "float32") for i, a in enumerate(arrays) if a is not None
    }
    outputs = [Tensor("y", (steps, batch, hidden), "float32")]
    if params.cell == "lstm":
        outputs.append(Tensor("c", (batch, hidden), "float32"))
    view = one_op("recurrent", params, list(tensors.values()), outputs)
    names = tuple(f"x{i}" if a is not None else "" for i, a in enumerate(arrays))
    op = view.op.__class__("recurrent", "y", names, view.op.outputs, params)
    kernel = kernel_named(f"recurrent_{params.cell}_float32__reference")
    return Case(kernel, OpView(op, view.graph), tuple(arrays))


def test_recurrent() -> None:
    cases = []
    for cell, functions in FUNCTIONS.items():
        for reverse, clip in ((False, np.inf), (True, 0.7)):
            for linear in (False, True) if cell == "gru" else (False,):
                params = RecurrentParams(cell, functions, reverse, clip, linear)
                for size in ((5, 1, 3), (1, 2, 9), (4, 3, 17)):
                    cases.append(_recurrent(params, *size))
    check(cases, MACHINES["host-sanitized"])


def _grid(params: GridSampleParams, extent: tuple[int, ...], points: tuple[int, ...]) -> Case:
    x = _noise(2, 3, *extent)
    grid = np.random.default_rng(1).uniform(-2.3, 2.3, (2, *points, len(extent)))
    grid = grid.astype(np.float32)
    view = one_op(
        "grid_sample",
        params,
        [Tensor("x", x.shape, "float32"), Tensor("grid", grid.shape, "float32")],
        [Tensor("y", (2, 3, *points), "float32")],
    )
    return Case(kernel_named("grid_sample_float32__reference"), view, (x, grid))


def test_grid_sample() -> None:
    cases = []
    for mode, padding, aligned in itertools.product(MODES, PADDINGS, (False, True)):
        params = GridSampleParams(mode, padding, aligned)
        for extent in ((5,), (4, 6), (1, 3), (3, 2, 4)):
            cases.append(_grid(params, extent, (7,) * len(extent)))
    check(cases, MACHINES["host-sanitized"], tolerance=2e-5)
