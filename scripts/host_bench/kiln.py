"""Kiln as a participant: a model compiled with a small program that times it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from compiler.board import load_board
from compiler.device.toolchains import Toolchain, find_toolchain
from compiler.options import BuildOptions
from compiler.paths import RUNTIME, TARGETS
from compiler.pipeline import compile_model

HERE = Path(__file__).resolve().parent
RUNTIME_SOURCES = ("kiln.c", "validate.c", "status.c", "crc32.c", "model_blob.S")
FLAGS = (
    "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s",
)  # fmt: skip
#: The target that holds a CPU to each instruction set.
TARGET_OF_ISA = {"avx2": "x86_avx"}


def target_of(isa: str) -> str:
    return TARGET_OF_ISA.get(isa) or load_board("host").target


def build(model: Path, folder: Path, isa: str, options: BuildOptions) -> Path:
    """The program; its only files are itself and the C library."""
    compiled = compile_model(model, target_of(isa), options)
    (folder / "model.blob").write_bytes(compiled.emitted.blob)
    source = folder / "model_kernels.c"
    source.write_text(compiled.emitted.code.text, encoding="utf-8")
    program = folder / "kiln"
    sources = [HERE / "kiln_main.c", source, *(RUNTIME / name for name in RUNTIME_SOURCES)]
    command = [
        *_compiler().command, *FLAGS, *_compiler().known(compiled.cflags),
        f"-DARENA_BYTES={max(compiled.plan.arena_bytes, 64)}", f"-I{RUNTIME}", f"-I{TARGETS}",
        f"-Wa,-I{folder}", *map(str, sources), "-o", str(program),
    ]  # fmt: skip
    subprocess.run(command, check=True, cwd=folder)
    return program


def measure_peak(folder: Path, isa: str) -> dict[str, float]:
    """Multiply-accumulates per nanosecond of one core, by type."""
    flags = {"avx2": ["-mavx2", "-mfma"]}.get(isa, ["-march=native"])
    program = folder / "peak"
    command = [*_compiler().command, "-O2", *flags, str(HERE / "peak.c"), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    rates: dict[str, float] = json.loads(done.stdout)
    return rates


def _compiler() -> Toolchain:
    return find_toolchain(load_board("host"))
