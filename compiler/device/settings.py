"""What CMake is told of one executable: compiler, flags, sources, linker script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from compiler.board import Board
from compiler.device.toolchains import Toolchain, is_bare, is_native
from compiler.paths import BOARDS, RUNTIME, TARGETS


@dataclass(frozen=True)
class Program:
    """The files and flags of one executable. ``model_sources`` get ``model_flags`` on top."""

    sources: Sequence[Path]
    model_sources: Sequence[Path] = ()
    model_flags: Sequence[str] = ()
    includes: Sequence[Path] = ()
    cflags: Sequence[str] = ()
    depends: Sequence[Path] = ()


def write_settings(
    board: Board, toolchain: Toolchain, program: Program, folder: Path, out: Path
) -> None:
    """Write ``toolchain.cmake`` and ``config.cmake`` (and ``link.ld``) into ``folder``."""
    flags = _link_flags(board, toolchain, folder)
    (folder / "toolchain.cmake").write_text(_toolchain_file(board, toolchain), encoding="utf-8")
    (folder / "config.cmake").write_text(
        _config_file(board, toolchain, program, flags, out, folder), encoding="utf-8"
    )


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
