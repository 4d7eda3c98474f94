"""Builds a firmware image: settings for CMake, the build itself, the fit and the sizes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from compiler.board import Board, Region
from compiler.device.images import FlashBytes, flash_bytes, region_bytes, write_image
from compiler.device.toolchains import Toolchain, find_toolchain, is_bare, is_native
from compiler.errors import FitError, ToolError, UsageError
from compiler.paths import BOARDS, ROOT, RUNTIME, TARGETS

_BUILD_SECONDS = 3600
_ERROR = re.compile(
    r"^.*?\b(?:[Ee]rror|undefined reference|undefined symbol|multiple definition)\b.*$"
)
#: GNU ld, then lld.
_OVERFLOW = re.compile(r"region [`'](\w+)'(?: |: )overflowed by (\d+) bytes")
_FIT_REMEDY = "use int8, a smaller model, --optimize size or ram, or a bigger board"
#: What would make two builds differ, or change what is built.
_SCRUBBED = ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH")


@dataclass(frozen=True)
class Image:
    """A finished image; ``elf`` has its symbols. ``tools`` names what built it."""

    path: Path
    elf: Path
    flash_bytes: Mapping[str, int]
    region_bytes: Mapping[str, int]
    tools: Mapping[str, str]


@dataclass(frozen=True)
class Program:
    """The files and flags of one executable. ``model_sources`` get ``model_flags`` on top."""

    sources: Sequence[Path]
    model_sources: Sequence[Path] = ()
    model_flags: Sequence[str] = ()
    includes: Sequence[Path] = ()
    cflags: Sequence[str] = ()
    depends: Sequence[Path] = ()


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


def check_fit(board: Board, blob_bytes: int, arena_bytes: int) -> None:
    """Raises FitError where blob, arena and stack alone are already more than the chip has."""
    chip = board.chip
    need: dict[str, int] = {}
    uses = ((chip.code, blob_bytes), (chip.arena, arena_bytes), (chip.data, chip.stack_bytes))
    for name, size in uses:
        if name is not None:
            need[name] = need.get(name, 0) + size
    for region in chip.regions:
        _check_region(board, region, need.get(region.name, 0))


def _check_region(board: Board, region: Region, need: int) -> None:
    if need > region.bytes:
        raise FitError(
            f"board '{board.name}': the model does not fit {region.name}: needs {need:,} bytes, "
            f"has {region.bytes:,}, {need - region.bytes:,} too many; {_FIT_REMEDY}"
        )


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


def compile_program(
    board: Board, toolchain: Toolchain, program: Program, folder: Path, out: Path
) -> Path:
    """Build ``program`` in ``folder``, which is emptied first; returns the ELF file.

    Paths below ``out`` and Kiln's own do not show in the result.
    """
    for source in (*program.sources, *program.model_sources):
        if not source.is_file():
            raise UsageError(f"board '{board.name}': its source '{source}' is missing; add it")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    folder, out = folder.resolve(), out.resolve()
    flags = _link_flags(board, toolchain, folder)
    (folder / "toolchain.cmake").write_text(_toolchain_file(board, toolchain), encoding="utf-8")
    (folder / "config.cmake").write_text(
        _config_file(board, toolchain, program, flags, out, folder), encoding="utf-8"
    )
    log = folder / "build.log"
    ninja = _program("ninja")
    configure = [_program("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    configure += ["-S", str(ROOT), "-B", str(folder)]
    configure += [f"-DCMAKE_TOOLCHAIN_FILE={folder / 'toolchain.cmake'}"]
    configure += [f"-DKILN_FIRMWARE_CONFIG={folder / 'config.cmake'}"]
    _run(board, configure, log)
    _run(board, [ninja, "-C", str(folder)], log)
    return folder / "firmware.elf"


def finish_image(board: Board, toolchain: Toolchain, elf: Path, out: Path) -> Image:
    """Turn the ELF file into the board's format in ``out``, and measure it."""
    regions = region_bytes(elf, board.chip.regions)
    for region in board.chip.regions:
        _check_region(board, region, regions[region.name])
    path = write_image(board, elf, out)
    sizes: FlashBytes = flash_bytes(elf)
    return Image(path, elf, sizes, regions, {"compiler": f"{toolchain.name}: {toolchain.version}"})


def _link_flags(board: Board, toolchain: Toolchain, folder: Path) -> list[str]:
    flags = ["-Wl,--gc-sections", "-Wl,--build-id=none", *board.link_flags]
    if board.chip.startup is not None:
        script = folder / "link.ld"
        script.write_text(linker_script(board), encoding="utf-8")
        flags.append(f"-Wl,-T,{script}")
    return [*flags, *(f for f in toolchain.link_flags if not _is_library(f))]


def _is_library(flag: str) -> bool:
    return flag.startswith("-l") or flag.endswith(".a")


def linker_script(board: Board) -> str:
    """The family's script with the chip's regions filled in."""
    chip = board.chip
    template = Template((BOARDS / "startup" / f"{chip.startup}.ld").read_text(encoding="utf-8"))
    memory = "\n".join(
        f"  {r.name} (rwx) : ORIGIN = {r.origin:#010x}, LENGTH = {r.bytes:#x}" for r in chip.regions
    )
    return template.substitute(
        origin=f"Made from boards/chips/{chip.name}.toml.",
        memory=memory,
        code=chip.code,
        data=chip.data,
        arena=chip.arena,
        stack_bytes=chip.stack_bytes,
    )


def _toolchain_file(board: Board, toolchain: Toolchain) -> str:
    """The compiler is known to work: without the trials a build starts a second earlier."""
    lines = []
    if not is_native(board.chip.triple) or is_bare(board.chip):
        system = "Generic" if is_bare(board.chip) else "Linux"
        lines.append(f"set(CMAKE_SYSTEM_NAME {system})")
    for language in ("C", "ASM"):
        lines += [
            _cmake_list(f"CMAKE_{language}_COMPILER", toolchain.command),
            f"set(CMAKE_{language}_COMPILER_ID {toolchain.cmake_id})",
            f"set(CMAKE_{language}_COMPILER_ID_RUN TRUE)",
            f"set(CMAKE_{language}_COMPILER_FORCED TRUE)",
        ]
    return "\n".join(lines) + "\n"


def _config_file(
    board: Board,
    toolchain: Toolchain,
    program: Program,
    link_flags: Sequence[str],
    out: Path,
    work: Path,
) -> str:
    defines: dict[str, int | str] = {"UART_BAUD": board.baud, "KILN_BOARD": f'"{board.name}"'}
    if is_bare(board.chip):
        defines["KILN_BARE_METAL"] = 1  # cross compilers for Linux say __unix__ all the same
    defines |= board.chip.defines
    defines |= board.defines
    # Clang's assembler writes the folder it works in into debug information, mapped or not.
    flags = [
        "$<$<COMPILE_LANGUAGE:C>:-g>",
        "-Wall",
        "-Wextra",
        "-ffp-contract=off",
        "-fno-asynchronous-unwind-tables",
    ]
    flags += ["-fno-math-errno", "-fno-trapping-math", "-ffunction-sections", "-fdata-sections"]
    places = {out: "/model", work: "/build"} | {
        p: f"/kiln/{p.name}" for p in (RUNTIME, TARGETS, BOARDS)
    }
    flags += [f"-ffile-prefix-map={place}={name}" for place, name in places.items()]
    isa_flags = toolchain.known(program.cflags)
    lists: dict[str, Sequence[object]] = {
        "KILN_SOURCES": [path.resolve() for path in program.sources],
        "KILN_MODEL_SOURCES": [path.resolve() for path in program.model_sources],
        "KILN_MODEL_OPTIMIZE": program.model_flags,
        "KILN_DEPENDS": [path.resolve() for path in program.depends],
        "KILN_INCLUDES": [*(p.resolve() for p in program.includes), RUNTIME, TARGETS, BOARDS],
        "KILN_DEFINES": [f"{name}={_c_value(value)}" for name, value in defines.items()],
        "KILN_COMPILE_FLAGS": [*toolchain.compile_flags, *isa_flags, *flags],
        "KILN_LINK_FLAGS": [*toolchain.compile_flags, *link_flags],
        "KILN_LIBRARIES": [flag for flag in toolchain.link_flags if _is_library(flag)],
        "KILN_OUTPUT_NAME": ["firmware.elf"],
    }
    return "".join(_cmake_list(name, values) + "\n" for name, values in lists.items())


def _c_value(value: int | str) -> str:
    """Integers in hexadecimal, which C types as unsigned where they need it."""
    return f"{value:#x}" if isinstance(value, int) else value


def _cmake_list(name: str, values: Sequence[object]) -> str:
    return f"set({name} {' '.join(f'[==[{value}]==]' for value in values)})"


def _program(name: str) -> str:
    """CMake or Ninja: beside this Python (a virtual environment that is not active), or in PATH."""
    beside = shutil.which(name, path=str(Path(sys.executable).parent))
    found = beside or shutil.which(name)
    if found is None:
        raise ToolError(f"the program '{name}' is missing; `pip install {name}`")
    return found


def _run(board: Board, command: Sequence[str], log: Path) -> None:
    """Run a part of the build; its output goes to ``log``. Raises ToolError, FitError."""
    environment = {k: v for k, v in os.environ.items() if k not in _SCRUBBED}
    with log.open("ab") as file:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment | {"LC_ALL": "C"},
                timeout=_BUILD_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolError(f"'{command[0]}' failed: {error}; its log is '{log}'") from None
    if done.returncode != 0:
        text = log.read_text(encoding="utf-8", errors="replace")
        _raise_overflow(board, text)
        raise ToolError(f"board '{board.name}': {first_error(text)} (the whole log is '{log}')")


def _raise_overflow(board: Board, log: str) -> None:
    over: dict[str, int] = {}
    for name, count in _OVERFLOW.findall(log):
        over[name] = max(over.get(name, 0), int(count))
    for name, count in over.items():
        region = board.chip.region(name)
        if region is not None:
            _check_region(board, region, region.bytes + count)


def first_error(log: str) -> str:
    """The first line of a build log that says what is wrong."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for line in lines:
        if _ERROR.match(line) and "FAILED" not in line:
            return line
    return next((line for line in lines if "FAILED" in line or "Error" in line), "the build failed")
