"""Builds a firmware image: what goes into it, its fit, its format and its sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.board import Board
from compiler.device.cmake import compile_program
from compiler.device.fit import check_fit, check_region
from compiler.device.images import FlashBytes, flash_bytes, region_bytes, write_image
from compiler.device.settings import Program
from compiler.device.toolchains import Toolchain, find_toolchain, is_bare
from compiler.errors import ToolError
from compiler.paths import BOARDS, RUNTIME


@dataclass(frozen=True)
class Image:
    """A finished image; ``elf`` has its symbols. ``tools`` names what built it."""

    path: Path
    elf: Path
    flash_bytes: Mapping[str, int]
    region_bytes: Mapping[str, int]
    tools: Mapping[str, str]


def build_image(
    board: Board,
    out: Path,
    toolchain: str | None = None,
    cflags: Sequence[str] = (),
    optimize: str = "speed",
    work: Path | None = None,
) -> Image:
    """Compile and link ``out``'s model for ``board``; the image lies in ``out`` afterwards.

    ``work`` (by default ``out/firmware``) keeps the object files and the compiler's log;
    ``cflags`` are those of the target's fallback chain. Raises ToolError with the compiler's
    first error, FitError with the bytes that are too many.
    """
    compiler = find_toolchain(board, toolchain)
    blob = out / "model.blob"
    check_fit(board, blob.stat().st_size, arena_bytes(out / "kiln_model.h"))
    program = Program(
        sources=[*runtime_sources(board), *board_sources(board)],
        model_sources=[out / "model_kernels.c"],
        model_flags=["-Os" if optimize == "size" else "-O3"],
        includes=[out],
        cflags=cflags,
        depends=[blob],
    )
    elf = compile_program(board, compiler, program, work or out / "firmware", out)
    return finish_image(board, compiler, elf, out)


def arena_bytes(header: Path) -> int:
    """KILN_ARENA_BYTES of ``kiln_model.h``."""
    found = re.search(r"KILN_ARENA_BYTES\s+\(?(\d+)", header.read_text(encoding="utf-8"))
    if found is None:
        raise ToolError(f"'{header}': does not define KILN_ARENA_BYTES; build the model again")
    return int(found[1])


def runtime_sources(board: Board) -> list[Path]:
    """The runtime; with its own memory functions where there is no libc."""
    files = sorted([*RUNTIME.glob("*.c"), *RUNTIME.glob("*.S")])
    return [f for f in files if is_bare(board.chip) or f.name != "freestanding.c"]


def board_sources(board: Board) -> list[Path]:
    """The board's port and, without an operating system, its start-up code."""
    sources = [*board.sources, *board.chip.sources]
    if board.chip.startup is not None:
        names = (f"{board.chip.startup}*.S", f"{board.chip.startup}*.c")
        sources += [f for name in names for f in sorted((BOARDS / "startup").glob(name))]
    return sources


def finish_image(board: Board, toolchain: Toolchain, elf: Path, out: Path) -> Image:
    """Turn the ELF file into the board's format in ``out``, and measure it."""
    regions = region_bytes(elf, board.chip.regions)
    for region in board.chip.regions:
        check_region(board, region, regions[region.name])
    path = write_image(board, elf, out)
    sizes: FlashBytes = flash_bytes(elf)
    return Image(path, elf, sizes, regions, {"compiler": f"{toolchain.name}: {toolchain.version}"})
