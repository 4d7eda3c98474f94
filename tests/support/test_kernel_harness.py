"""The kernel harness notices wrong results, wrong memory accesses and damaged inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from compiler.graph import OpView
from compiler.kernels import Call, Input, Kernel, Output
from compiler.loading import load_builtins
from compiler.operators.elementwise import UnaryParams
from tests.support import kernel_harness
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import one_op, tensor

load_builtins()

HEADER = """
#include "kernel.h"
struct count_shape { int32_t count; };
KILN_KERNEL void square_test(const struct count_shape *s, float *input, float *output) {
    %s
    for (int32_t i = 0; i < s->count; i++) output[i] = input[i] * input[i];
    %s
}
"""
FAULTS = {
    "wrong": ("output[1] += 1.0f;", "largest error"),
    "past": ("output[s->count] = 0.0f;", "wrote past"),
    "before": ("output[-1] = 0.0f;", "wrote before"),
    "input": ("input[0] += 1.0f;", "changed an input"),
}


class Square(Kernel):
    name = "square_test"
    target = "reference"
    source = "square_test.h"
    dtypes = ("float32",)

    def __init__(self, aliased: bool = False) -> None:
        self.aliased = aliased

    def call(self, view: OpView) -> Call:
        return Call("count_shape", {"count": view.output().elements}, (Input(0), Output(0)))

    def in_place(self, view: OpView) -> Mapping[int, int]:
        return {0: 0} if self.aliased else {}


Program = Callable[..., kernel_harness.Machine]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Writes the kernel with more statements in it; gives the machine that compiles it."""
    monkeypatch.setattr(kernel_harness, "CACHE", tmp_path / "cache")

    def write(after: str, machine: str = "host", before: str = "") -> kernel_harness.Machine:
        folder = tmp_path / "reference" / "kernels"
        folder.mkdir(parents=True)
        (folder / "square_test.h").write_text(HEADER % (before, after))
        return MACHINES[machine].with_flags(f"-I{tmp_path}")

    return write


def square(aliased: bool = False) -> Case:
    view = one_op("square", UnaryParams(), [tensor("x", (9,), "float32")],
                  [tensor("y", (9,), "float32")])  # fmt: skip
    return Case(Square(aliased), view, (np.linspace(1, 2, 9, dtype=np.float32),))


def test_a_right_kernel_passes(program: Program) -> None:
    check([square(), square(aliased=True)], program(""))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(program: Program, fault: str) -> None:
    text, complaint = FAULTS[fault]
    with pytest.raises(AssertionError, match=complaint):
        check([square()], program(text))


@pytest.mark.parametrize("text", ["output[0] += input[s->count];", "output[0] += input[-1];"])
def test_the_sanitizer_sees_reads_outside(program: Program, text: str) -> None:
    with pytest.raises(AssertionError, match=r"use-after-poison|overflow"):
        check([square()], program(text, "host-sanitized"))


def test_in_place_runs_are_compared(program: Program) -> None:
    """A kernel that writes before it has read is right only where nothing is shared."""
    early = "for (int32_t i = 0; i < s->count; i++) output[i] = 0.0f;"
    machine = program("", before=early)
    check([square()], machine)
    with pytest.raises(AssertionError, match="in place"):
        check([square(aliased=True)], machine)
