"""Compiles kernels as the emitter does, runs many cases in one process, returns the outputs.

    cases = conv2d_cases(kernel_named("conv2d_int8__reference"))
    check(cases, MACHINES["host-sanitized"])

One C file per call of ``run``: a compile costs far more than a case. Buffers have guard zones;
tensors lie at addresses aligned to their element only, constants and scratch as on a board.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from compiler.emit_c import c_call, c_struct, header_closure, include_path
from compiler.graph import DTYPE_BYTES, OpView
from compiler.kernels import Call, Constant, Input, Kernel, Output, Scratch
from compiler.paths import RUNTIME, TARGETS
from compiler.registry import reference
from compiler.target import load_target

SUPPORT = Path(__file__).parent
CACHE = Path(tempfile.gettempdir()) / f"kiln-kernel-tests-{os.getuid()}"
FLAGS = (
    "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math",
    f"-I{TARGETS}", f"-I{RUNTIME}", f"-I{SUPPORT}",
)  # fmt: skip
DAMAGE = {1: "wrote before a buffer", 2: "wrote past a buffer", 4: "changed an input"}


@dataclass(frozen=True)
class Machine:
    """A compiler with its flags, and what runs the program (empty: this machine does)."""

    name: str
    compiler: str
    flags: tuple[str, ...]
    runner: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def with_flags(self, *flags: str) -> Machine:
        return replace(self, flags=(*self.flags, *flags))

    def require(self) -> None:
        """Skips the running test where a tool is missing."""
        for tool in (self.compiler, *self.runner[:1]):
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")


def _cortex_m(name: str, board: str, *flags: str) -> Machine:
    sections = ("--section-start=.vectors=0", "-Tdata=0x20000000")
    return Machine(
        name,
        "arm-none-eabi-gcc",
        ("-O2", "-mthumb", *flags, "--specs=rdimon.specs", *(f"-Wl,{s}" for s in sections)),
        ("qemu-system-arm", "-M", board, "-nographic", "-monitor", "none", "-serial", "null",
         "-semihosting-config", "enable=on,target=native", "-kernel"),
        ("cortex_m_start.c",),
    )  # fmt: skip


MACHINES = {
    machine.name: machine
    for machine in (
        Machine("host", "gcc", ("-O3",)),
        Machine(
            "host-sanitized",
            "gcc",
            ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
        ),
        Machine("aarch64", "aarch64-linux-gnu-gcc", ("-O3", "-static"), ("qemu-aarch64",)),
        _cortex_m("cortex-m0", "mps2-an385", "-mcpu=cortex-m0plus"),
        _cortex_m("cortex-m3", "mps2-an385", "-mcpu=cortex-m3"),
        _cortex_m(
            "cortex-m4", "mps2-an386", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"
        ),
        _cortex_m(
            "cortex-m7", "mps2-an500", "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16"
        ),
    )
}


@dataclass(frozen=True, eq=False)
class Case:
    """One call: ``inputs`` has an array per operator input (None where absent).

    ``inlined`` compiles a body of its own with constant shapes; otherwise cases with the same
    kernel share one, if it may be shared. ``in_place`` puts output 0 over the input that the
    kernel allows.
    """

    kernel: Kernel
    view: OpView
    inputs: tuple[np.ndarray | None, ...]
    inlined: bool = False
    in_place: bool = False

    def __str__(self) -> str:
        shapes = [list(t.shape) for t in self.view.inputs if t is not None]
        place = " in place" if self.in_place else ""
        return (
            f"{self.kernel.name}{place} {self.view.numerics} {shapes} -> "
            f"{[list(t.shape) for t in self.view.outputs]} {self.view.params}"
        )

    def expected(self) -> tuple[np.ndarray, ...]:
        result = reference[self.view.op.kind](self.view, *self.inputs)
        return result if isinstance(result, tuple) else (result,)

    def shares(self) -> tuple[int, int] | None:
        """(output, input) that may share memory, if any."""
        for output, sources in self.kernel.in_place(self.view).items():
            for source in (sources,) if isinstance(sources, int) else sources:
                tensor = self.view.input(source)
                if not tensor.is_constant and tensor.bytes >= self.view.output(output).bytes:
                    return output, source
        return None


def with_variants(cases: Sequence[Case], inline_every: int = 12) -> list[Case]:
    """Adds the in-place runs that the kernels allow, and inlines some of the cases."""
    grown = [replace(c, inlined=i % inline_every == 0) for i, c in enumerate(cases)]
    return grown + [replace(c, in_place=True) for c in cases if c.shares() is not None]


def check(cases: Sequence[Case], machine: Machine, tolerance: float = 1e-5) -> None:
    """Fails, naming the first cases that differ from the ``reference`` attribute.

    Integers must agree to the byte, floats within ``tolerance`` of the output's range.
    """
    cases = with_variants(cases)
    wrong = []
    for case, outputs in zip(cases, run(cases, machine), strict=True):
        for got, want in zip(outputs, case.expected(), strict=True):
            message = difference(got, want, tolerance)
            if message:
                wrong.append(f"{case}: {message}")
    assert not wrong, f"{len(wrong)} of {len(cases)} cases\n" + "\n".join(wrong[:8])


def difference(got: np.ndarray, want: np.ndarray, tolerance: float) -> str:
    """How two outputs differ, or "" where they agree."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"reference gives {want.dtype}{list(want.shape)}, not {got.dtype}{list(got.shape)}"
    if got.dtype.kind != "f":
        bad = got != want
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return f"{int(bad.sum())} of {bad.size} differ; at {at}: {got[at]}, not {want[at]}"
        return ""
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "infinities or NaNs differ"
    exact = want[finite].astype(np.float64)
    error = np.abs(got[finite].astype(np.float64) - exact)
    span = max(float(np.abs(exact).max(initial=0.0)), 1e-30)
    if error.size and not error.max() <= tolerance * span:
        return f"largest error {error.max():.3g} over a range of {span:.3g}"
    return ""


def run(cases: Sequence[Case], machine: Machine) -> list[tuple[np.ndarray, ...]]:
    """The outputs of every case, compiled together and run in one process.

    Raises AssertionError if the program fails to compile or run, or damages a guard zone.
    """
    calls = [case.kernel.call(case.view) for case in cases]
    program = _build(cases, calls, machine)
    payload = b"".join(
        data.tobytes() for case, call in zip(cases, calls, strict=True)
        for data in _contents(case, call)
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="kiln-run-") as folder:
        Path(folder, "input.bin").write_bytes(payload)
        done = subprocess.run(
            [*machine.runner, str(program)], cwd=folder, capture_output=True, text=True, timeout=300
        )
        said = done.stderr or done.stdout
        assert done.returncode == 0, f"{machine.name}: exit {done.returncode}: {said[:4000]}"
        return _parse(cases, calls, Path(folder, "output.bin").read_bytes())


def _contents(case: Case, call: Call) -> list[np.ndarray]:
    """The bytes of each buffer that the program reads, in order."""
    found = []
    for buffer in call.buffers:
        if isinstance(buffer, Constant):
            found.append(np.ascontiguousarray(buffer.data))
        elif isinstance(buffer, Input):
            array = case.inputs[buffer.index]
            tensor = case.view.input(buffer.index)
            assert array is not None and array.shape == tensor.shape, f"{case}: {tensor.name}"
            assert array.dtype == tensor.dtype, f"{case}: {tensor.name} is {array.dtype}"
            found.append(np.ascontiguousarray(array))
    return found


def _parse(
    cases: Sequence[Case], calls: Sequence[Call], data: bytes
) -> list[tuple[np.ndarray, ...]]:
    position = 0
    results = []
    for case, call in zip(cases, calls, strict=True):
        flags = int.from_bytes(data[position : position + 4], "little")
        assert not flags, f"{case}: " + ", ".join(t for bit, t in DAMAGE.items() if flags & bit)
        position += 4
        outputs: dict[int, np.ndarray] = {}
        for buffer in call.buffers:
            if isinstance(buffer, Output):
                tensor = case.view.output(buffer.index)
                array = np.frombuffer(data, tensor.dtype, tensor.elements, position)
                outputs[buffer.index] = array.reshape(tensor.shape)
                position += tensor.bytes
        results.append(tuple(outputs[i] for i in sorted(outputs)))
    assert position == len(data), "the program wrote more than its outputs"
    return results


def _build(cases: Sequence[Case], calls: Sequence[Call], machine: Machine) -> Path:
    """The compiled program, from the cache where the same sources were compiled before."""
    text = _program(cases, calls)
    targets = dict.fromkeys(case.kernel.target for case in cases)
    flags = (*FLAGS, *machine.flags, *(f for t in targets for f in load_target(t).cflags))
    digest = hashlib.sha256(repr((text, machine, flags)).encode())
    headers = header_closure(dict.fromkeys(include_path(case.kernel) for case in cases))
    support = [SUPPORT / name for name in ("kernel_driver.h", *machine.sources)]
    for path in (*headers, *support):
        digest.update(path.read_bytes())
    program = CACHE / digest.hexdigest()[:24]
    if program.is_file():
        return program
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        source = Path(folder, "cases.c")
        source.write_text(text, encoding="utf-8")
        sources = [str(source), *(str(SUPPORT / name) for name in machine.sources)]
        output = Path(folder, "program")
        done = subprocess.run(
            [machine.compiler, *flags, *sources, "-o", str(output), "-lm"],
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, f"{machine.name}: {done.stderr[:6000]}"
        os.replace(output, program)
    return program


def _program(cases: Sequence[Case], calls: Sequence[Call]) -> str:
    includes = dict.fromkeys(include_path(case.kernel) for case in cases)
    chunks = ['#include "kernel.h"', *(f'#include "{path}"' for path in includes)]
    chunks.append('#include "kernel_driver.h"\n')
    shared: set[str] = set()
    for index, (case, call) in enumerate(zip(cases, calls, strict=True)):
        body = c_call(case.kernel, call, f"&shape_{index}")
        chunks.append(c_struct(f"shape_{index}", call))
        if not case.inlined and case.kernel.shareable:
            copy = f"{case.kernel.name}__shared_{len(call.buffers)}"
            if copy not in shared:
                shared.add(copy)
                chunks.append(
                    f"KILN_SHARED void {copy}(const struct {call.struct} *shape,\n"
                    f"    void *const *b) {{ {c_call(case.kernel, call, 'shape')} }}\n"
                )
            body = f"{copy}(&shape_{index}, b);"
        chunks.append(f"static void run_{index}(void *const *b) {{ {body} }}")
        entries = ", ".join(_entries(case, call, index))
        chunks.append(f"static const struct case_buffer buffers_{index}[] = {{{entries}}};\n")
    table = ", ".join(
        f"{{run_{i}, {len(call.buffers)}, buffers_{i}}}" for i, call in enumerate(calls)
    )
    chunks.append(f"const struct test_case cases[] = {{{table}}};")
    chunks.append(f"const uint32_t case_count = {len(calls)};\n")
    return "\n".join(chunks)


def _entries(case: Case, call: Call, index: int) -> list[str]:
    """Role, misalignment, alias and bytes of each buffer, as C initializers."""
    shares = case.shares() if case.in_place else None
    entries = []
    for buffer in call.buffers:
        misalign, alias = 0, -1
        if isinstance(buffer, Scratch):
            role, size = "ROLE_SCRATCH", buffer.bytes
        elif isinstance(buffer, Constant):
            role, size = "ROLE_INPUT", buffer.data.nbytes
        else:
            is_input = isinstance(buffer, Input)
            tensor = (case.view.input if is_input else case.view.output)(buffer.index)
            role, size = "ROLE_INPUT" if is_input else "ROLE_OUTPUT", tensor.bytes
            if not tensor.is_constant:
                misalign = DTYPE_BYTES[tensor.dtype] * (index % 4)
            if shares and not is_input and buffer.index == shares[0]:
                alias = call.buffers.index(Input(shares[1]))
        entries.append(f"{{{role}, {misalign}, {alias}, {size}u}}")
    return entries
