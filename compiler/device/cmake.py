"""Runs CMake and Ninja, and says in one line what went wrong."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from compiler.board import Board
from compiler.device.fit import check_overflow
from compiler.device.settings import Program, write_settings
from compiler.device.toolchains import Toolchain
from compiler.errors import ToolError, UsageError
from compiler.paths import ROOT

_BUILD_SECONDS = 3600
_ERROR = re.compile(
    r"^.*?\b(?:[Ee]rror|undefined reference|undefined symbol|multiple definition)\b.*$"
)
#: What would make two builds differ, or change what is built.
_SCRUBBED = ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH")


def compile_program(
    board: Board, toolchain: Toolchain, program: Program, folder: Path, out: Path
) -> Path:
    """Build ``program`` in ``folder``, which is emptied first; returns the ELF file.

    Paths below ``out`` and Kiln's own do not show in the result.
    """
    for source in (*program.sources, *program.model_sources):
        if not source.is_file():
            raise UsageError(f"board '{board.name}': its source '{source}' is missing; add it")
    folder, out = folder.resolve(), out.resolve()
    for path in (folder, out, ROOT):
        _check_path(path)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_settings(board, toolchain, program, folder, out)
    log = folder / "build.log"
    ninja = _program("ninja")
    configure = [_program("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    configure += ["-S", str(ROOT), "-B", str(folder)]
    configure += [f"-DCMAKE_TOOLCHAIN_FILE={folder / 'toolchain.cmake'}"]
    configure += [f"-DKILN_FIRMWARE_CONFIG={folder / 'config.cmake'}"]
    _run(board, configure, log)
    _run(board, [ninja, "-C", str(folder)], log)
    return folder / "firmware.elf"


def _check_path(path: Path) -> None:
    """CMake takes these characters for its own wherever it writes a path into its files."""
    found = [character for character in '";\\\n' if character in str(path)]
    if found:
        raise UsageError(
            f"folder {str(path)!r}: CMake cannot take {found[0]!r} in a path; choose another folder"
        )


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
        check_overflow(board, text)
        raise ToolError(f"board '{board.name}': {first_error(text)} (the whole log is '{log}')")


def first_error(log: str) -> str:
    """The first line of a build log that says what is wrong."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for line in lines:
        if _ERROR.match(line) and "FAILED" not in line:
            return line
    return next((line for line in lines if "FAILED" in line or "Error" in line), "the build failed")
