"""Dynamic-range operators: as LiteRT's hybrid kernels, and the C kernels as those."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler.importers import read_model
from compiler.kernels import kernel_named
from compiler.operators.hybrid import FLOAT_KINDS
from compiler.passes.float_weights import use_float_weights
from compiler.simulator import Simulator
from tests.operators.litert import Case, Spec, compare
from tests.support import kernel_harness
from tests.support.kernel_harness import MACHINES

VALID, RELU6 = 1, 3


def weights(rng: np.random.Generator, shape: tuple[int, ...], axis: int, scales: int) -> Spec:
    scale = rng.uniform(0.005, 0.02, scales)
    data = rng.integers(-127, 128, shape)
    return Spec(shape, "int8", scale, 0, axis, data)


def matrix(rng: np.random.Generator, **options: Any) -> Case:
    bias = Spec((5,), "float32", data=rng.normal(0, 1, 5))
    w = weights(rng, (5, 17), 0, 5 if options.pop("channels", False) else 1)
    fields = {"fusedActivationFunction": options.pop("activation", 0), **options}
    return Case("FULLY_CONNECTED", [Spec((4, 17), "float32"), w, bias],
                [Spec((4, 5), "float32")], "FullyConnectedOptions", 9, fields)  # fmt: skip


def convolution(rng: np.random.Generator, **options: Any) -> Case:
    per_channel = options.pop("channels", True)
    window = {"strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
    depthwise = options.pop("depthwise", False)
    fields = {**window, **options, "fusedActivationFunction": RELU6 if per_channel else 0}
    x = Spec((2, 7, 6, 4), "float32")
    if depthwise:
        fields["depthMultiplier"] = 2
        w, kind = weights(rng, (1, 3, 3, 8), 3, 8), "DEPTHWISE_CONV_2D"
    else:
        w, kind = weights(rng, (8, 3, 3, 4), 0, 8 if per_channel else 1), "CONV_2D"
    bias = Spec((8,), "float32", data=rng.normal(0, 1, 8))
    table = "DepthwiseConv2DOptions" if depthwise else "Conv2DOptions"
    return Case(kind, [x, w, bias], [Spec((), "float32")], table, 6 if depthwise else 5, fields)


CASES: list[tuple[Any, dict[str, Any]]] = [
    (matrix, {}), (matrix, {"channels": True}), (matrix, {"asymmetricQuantizeInputs": True}),
    (matrix, {"channels": True, "asymmetricQuantizeInputs": True, "activation": 1}),
    (convolution, {}), (convolution, {"channels": False}), (convolution, {"padding": VALID}),
    (convolution, {"strideH": 2, "strideW": 2}), (convolution, {"depthwise": True}),
    (convolution, {"depthwise": True, "padding": VALID, "strideW": 3, "strideH": 3}),
    (convolution, {"dilationHFactor": 2, "dilationWFactor": 2}),
]  # fmt: skip


def ranges(rng: np.random.Generator, shape: tuple[int, ...]) -> list[np.ndarray]:
    """Of both signs, positive, negative, all zero, and of other scales."""
    x = rng.normal(0, 1, shape).astype(np.float32)
    return [x, np.abs(x), -np.abs(x), 0 * x, x * 1e-3, x + 5]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__}-{'-'.join(c[1])}")
def test_as_litert(case: tuple[Any, dict[str, Any]], tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    made = case[0](rng, **case[1])
    for x in ranges(rng, made.inputs[0].shape):
        compare(made, tmp_path, rng, [x])
    kinds = {op.kind for op in read_model(tmp_path / "model.tflite").ops}
    assert kinds <= {*FLOAT_KINDS}


@pytest.mark.parametrize("machine", ["host-sanitized", "cortex-m4"])
def test_kernels(machine: str, tmp_path: Path) -> None:
    MACHINES[machine].require()
    rng = np.random.default_rng(2)
    cases = []
    for make, options in CASES:
        (tmp_path / "model.tflite").write_bytes(make(rng, **options).model())
        graph = read_model(tmp_path / "model.tflite")
        view = graph.view(graph.ops[0])
        kernel = kernel_named(f"{view.op.kind}__reference")
        constants = [t.data for t in view.inputs[1:] if t is not None]
        cases += [
            kernel_harness.Case(kernel, view, (x, *constants))
            for x in ranges(rng, view.input(0).shape)
        ]
    kernel_harness.check(cases, MACHINES[machine])


def test_float_weights_are_near(tmp_path: Path) -> None:
    """What post-training quantization is given: the same within about 1 % of the range."""
    rng = np.random.default_rng(3)
    for make, options in CASES:
        (tmp_path / "model.tflite").write_bytes(make(rng, **options).model())
        graph = read_model(tmp_path / "model.tflite")
        plain = use_float_weights(graph)
        assert [op.kind for op in plain.ops] == [FLOAT_KINDS[op.kind] for op in graph.ops]
        x = {"in0": ranges(rng, graph.tensors["in0"].shape)[0]}
        wanted = Simulator(graph).run(x)["out0"]
        found = Simulator(plain).run(x)["out0"]
        span = float(np.ptp(wanted))
        assert 0 < np.abs(found - wanted).max() < 0.03 * span
