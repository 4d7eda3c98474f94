"""Chains of float operators in one kernel, against what the operators mean one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from compiler.emit_c import emit_kernels
from compiler.kernels import kernel_named
from compiler.loading import load_builtins
from compiler.operators.elementwise import (
    ARITHMETIC,
    ArithmeticParams,
    BinaryParams,
    ClampParams,
    EluParams,
    GeluParams,
    LeakyReluParams,
    PreluParams,
    UnaryParams,
)
from compiler.operators.fused import ChainParams, Stage, chainable
from compiler.registry import op_class
from compiler.schedule import Step
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import constant, one_op, tensor
from tests.support.shape_grid import CLAMPS

load_builtins()
KERNEL = kernel_named("elementwise_chain_float32__reference")
PARAMS: dict[str, Sequence[Any]] = {
    "clamp": (ClampParams(0.0, 6.0), ClampParams(-1.0, float("inf"))),
    "leaky_relu": (LeakyReluParams(0.1),),
    "elu": (EluParams(1.5),),
    "gelu": (GeluParams(False), GeluParams(True)),
    "prelu": (PreluParams(),),
}
OUTPUT = (2, 3, 4, 37)
#: Operands as they are repeated: not, along all but the last axis, along the last one, a number.
OPERANDS = (OUTPUT, (37,), (2, 3, 4, 1), (1, 1, 4, 37), (2, 1, 1, 1), (), OUTPUT)


def params_of(kind: str) -> Sequence[Any]:
    if kind in ARITHMETIC:
        return [ArithmeticParams(clamp) for clamp in CLAMPS]
    default = BinaryParams() if op_class[kind] == "broadcast" else UnaryParams()
    return PARAMS.get(kind, (default,))


def positive(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Where every function has a value, and a small one."""
    return np.random.default_rng(seed).uniform(0.3, 2.0, shape).astype(np.float32)


def chain_case(stages: Sequence[Stage], shapes: Sequence[tuple[int, ...]], constants: int) -> Case:
    """The last ``constants`` inputs are constants."""
    arrays = [positive(shape, seed) for seed, shape in enumerate(shapes)]
    free = len(shapes) - constants
    inputs = [
        tensor(f"x{i}", a.shape, "float32") if i < free else constant(f"x{i}", a)
        for i, a in enumerate(arrays)
    ]
    output = np.broadcast_shapes(*shapes)
    params = ChainParams(tuple(stages))
    view = one_op("elementwise_chain", params, inputs, [tensor("y", output, "float32")])
    assert KERNEL.fits(view)
    return Case(KERNEL, view, tuple(arrays))


def test_every_chainable_operator() -> None:
    """Each on what the one before made, with operands in every order."""
    cases = []
    for kind in chainable:
        for index, params in enumerate(params_of(kind)):
            is_binary = op_class[kind] == "broadcast"
            operands = ((2, 1), (1, 2), (2, 2))[index % 3] if is_binary else (2,)
            first = Stage("add", ArithmeticParams(), (0, 1))
            stages = [first, Stage(kind, params, operands), Stage("neg", UnaryParams(), (3,))]
            cases.append(chain_case(stages, ((5, 17), (17,)), index % 2))
    assert len(cases) > len(list(chainable)) > 30
    check(cases, MACHINES["host-sanitized"])


def sums(shapes: Sequence[tuple[int, ...]], constants: int) -> Case:
    """((x0 * x1) * x2) * ..., then tanh, then less x0."""
    count = len(shapes)
    stages = [Stage("mul", ArithmeticParams(), (0, 1))]
    stages += [Stage("mul", ArithmeticParams(), (i, count + i - 2)) for i in range(2, count)]
    stages.append(Stage("tanh", UnaryParams(), (2 * count - 2,)))
    stages.append(Stage("sub", ArithmeticParams((-0.5, 0.25)), (2 * count - 1, 0)))
    return chain_case(stages, shapes, constants)


@pytest.mark.parametrize("machine", ["host-sanitized", "aarch64", "cortex-m0", "cortex-m4"])
def test_operands_of_every_shape(machine: str) -> None:
    MACHINES[machine].require()
    cases = [sums((OUTPUT, shape), c) for shape in OPERANDS for c in (0, 1)]
    cases += [sums((shape, OUTPUT), 0) for shape in OPERANDS]
    cases += [sums(OPERANDS[: n + 1], n // 2) for n in range(2, len(OPERANDS))]
    cases += [sums(((), ()), 0), sums(((1, 1), (1,)), 1), sums(((9, 1), (1, 7)), 0)]
    check(cases, MACHINES[machine])


def test_a_value_is_used_again() -> None:
    """x * sigmoid(x) with x computed, and an input that most stages take."""
    add = Stage("add", ArithmeticParams(), (0, 1))
    gate, product = Stage("logistic", UnaryParams(), (2,)), Stage("mul", ArithmeticParams(), (2, 3))
    cubic = [Stage("mul", ArithmeticParams(), (0, i)) for i in (0, 2, 3)]
    cases = [
        chain_case([add, gate, product], ((3, 40), (40,)), 0),
        chain_case([*cubic, Stage("maximum", BinaryParams(), (4, 1))], ((130,), ()), 1),
    ]
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("machine", ["host-sanitized", "cortex-m4"])
def test_inputs_with_tails(machine: str) -> None:
    """Rows that end early, two of them at different places, beside one that is whole."""
    MACHINES[machine].require()
    add = Stage("add", ArithmeticParams((0.0, np.inf)), (0, 1))
    cases = []
    for tails in ((5, 0), (0, 7), (16, 0), (1, 0, 9), (0, 4, 4)):
        shapes = [(2, 3, 1, 33 - tail) for tail in tails]
        arrays = [positive(shape, seed) for seed, shape in enumerate(shapes)]
        inputs = [tensor(f"x{i}", shape, "float32") for i, shape in enumerate(shapes)]
        stages = [add]
        if len(tails) == 3:
            stages += [Stage("exp", UnaryParams(), (3,)), Stage("mul", ArithmeticParams(), (2, 4))]
        output = tensor("y", (2, 3, 1, 33), "float32")
        params = ChainParams(tuple(stages), tails)
        view = one_op("elementwise_chain", params, inputs, [output])
        assert KERNEL.fits(view)
        cases.append(Case(KERNEL, view, tuple(arrays)))
    check(cases, MACHINES[machine])


def test_tails_of_what_is_repeated() -> None:
    inputs = [tensor("x", (2, 5), "float32"), tensor("w", (4,), "float32")]
    params = ChainParams((Stage("add", ArithmeticParams(), (0, 1)),), (0, 1))
    y = tensor("y", (2, 5), "float32")
    assert not KERNEL.fits(one_op("elementwise_chain", params, inputs, [y]))


def test_too_much_for_one() -> None:
    stages = [Stage("neg", UnaryParams(), (i,)) for i in range(17)]
    x, y = tensor("x", (4,), "float32"), tensor("y", (4,), "float32")
    assert not KERNEL.fits(one_op("elementwise_chain", ChainParams(tuple(stages)), [x], [y]))
    assert KERNEL.fits(one_op("elementwise_chain", ChainParams(tuple(stages[:16])), [x], [y]))


def test_never_shared() -> None:
    """Also with --optimize size, each shape has code of its own: only then it is short."""
    cases = [sums((shape, shape), 0) for shape in ((8,), (9,))]
    steps = [Step(i, c.view, KERNEL, KERNEL.call(c.view)) for i, c in enumerate(cases)]
    text = emit_kernels(steps, shared=True).text
    assert "KILN_SHARED" not in text
    assert "KILN_STAGE_tanh" in text
