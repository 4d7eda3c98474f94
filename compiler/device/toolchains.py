"""C compilers that build firmware: GCC, Clang and ``zig cc``, a class each."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from compiler.board import Board, Chip
from compiler.errors import ToolError, UsageError

#: Seconds that a compiler may take to say its version.
_VERSION_SECONDS = 60


@dataclass(frozen=True)
class Toolchain:
    """A compiler found on this machine, and how it is called for one chip.

    ``cmake_id`` is CMake's name of the compiler family. ``compile_flags`` and ``link_flags``
    hold what selects the chip; those of the target's instruction set come on top, but for the
    ones that begin with any of ``unknown_flags``.
    """

    name: str
    command: tuple[str, ...]
    cmake_id: str
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    unknown_flags: tuple[str, ...] = ()

    def known(self, cflags: Sequence[str]) -> list[str]:
        """The flags that this compiler takes."""
        return [flag for flag in cflags if not flag.startswith(self.unknown_flags)]

    @property
    def version(self) -> str:
        """The first line of ``--version``."""
        return _version(self.command)


class ToolchainKind(Protocol):
    """One family of compilers."""

    name: str

    def find(self, chip: Chip) -> Toolchain | None:
        """The compiler for this chip, or None where it is not installed."""

    def remedy(self, chip: Chip) -> str:
        """The command that installs it."""


def is_native(triple: str) -> bool:
    """Whether this machine's own compiler makes programs for ``triple``."""
    is_linux_arm = platform.machine() in ("aarch64", "arm64") and sys.platform == "linux"
    return triple == "host" or (triple == "aarch64-linux-gnu" and is_linux_arm)


def is_bare(chip: Chip) -> bool:
    return chip.startup is not None


class Gcc:
    """GCC: the system's own, or a cross compiler named after the triple."""

    name = "gcc"
    _PACKAGES = {  # noqa: RUF012
        "host": "gcc libc6-dev",
        "arm-none-eabi": "gcc-arm-none-eabi",
        "aarch64-none-elf": "gcc-aarch64-linux-gnu",
        "aarch64-linux-gnu": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    }

    def find(self, chip: Chip) -> Toolchain | None:
        program = next(filter(None, map(shutil.which, self._programs(chip.triple))), None)
        if program is None or "clang" in _version((program,)):
            return None
        # Freestanding headers need no libc; memory functions are still inlined, and loops are
        # not turned into calls of others (strlen).
        compile_flags: tuple[str, ...] = ()
        link_flags: tuple[str, ...] = ()
        if is_bare(chip):
            compile_flags = ("-ffreestanding", "-fbuiltin", "-fno-tree-loop-distribute-patterns")
            compile_flags += ("-fno-pie", "-fno-stack-protector")
            link_flags = ("-nostdlib", "-no-pie", "-static", "-lgcc")
        elif chip.triple != "host":
            link_flags = ("-static",)
        select = (*chip.cflags, *compile_flags)
        found = Toolchain(self.name, (program,), "GNU", select, link_flags)
        # A cross compiler may be installed without the C library it links programs with.
        return found if is_bare(chip) or chip.triple == "host" or _links(found) else None

    def remedy(self, chip: Chip) -> str:
        return f"apt-get install {self._PACKAGES.get(chip.triple, 'gcc')}"

    @staticmethod
    def _programs(triple: str) -> list[str]:
        programs = [] if triple == "host" else [f"{triple}-gcc"]
        if triple == "aarch64-none-elf":
            programs.append("aarch64-linux-gnu-gcc")
        if is_native(triple):
            programs += ["gcc", "cc"]
        return programs


class Clang:
    """Clang with lld; other chips' support functions come from whichever runtime is there."""

    name = "clang"

    def find(self, chip: Chip) -> Toolchain | None:
        program = shutil.which("clang")
        if program is None:
            return None
        if chip.triple == "host":
            return Toolchain(self.name, (program,), "Clang", chip.cflags, ())
        if shutil.which("ld.lld") is None:
            return None
        select = (f"--target={chip.triple}", *chip.cflags)
        if not is_bare(chip):
            found = Toolchain(self.name, (program,), "Clang", select, ("-fuse-ld=lld", "-static"))
            return found if _links(found) else None
        link_flags = [
            "-fuse-ld=lld",
            "-nostdlib",
            "-static",
            *self._builtins(program, chip, select),
        ]
        return Toolchain(self.name, (program,), "Clang", select, tuple(link_flags))

    def remedy(self, chip: Chip) -> str:
        return "apt-get install clang lld"

    @staticmethod
    def _builtins(program: str, chip: Chip, select: tuple[str, ...]) -> list[str]:
        """64-bit division and the like: compiler-rt's library, or else GCC's."""
        ask = [program, *select, "--rtlib=compiler-rt", "-print-libgcc-file-name"]
        library = _output(tuple(ask))
        if os.path.isfile(library):
            return [library]
        gcc = Gcc().find(chip)
        if gcc is None:
            return []
        library = _output((*gcc.command, *chip.cflags, "-print-libgcc-file-name"))
        return [library] if os.path.isfile(library) else []


class Zig:
    """``zig cc``: Clang with libraries for every chip, from PyPI, with no root needed."""

    name = "zig"

    def find(self, chip: Chip) -> Toolchain | None:
        if importlib.util.find_spec("ziglang") is not None:
            command: tuple[str, ...] = (sys.executable, "-m", "ziglang", "cc")
        elif (program := shutil.which("zig")) is not None:
            command = (program, "cc")
        else:
            return None
        select = (*self._target(chip), *self._cpu_flags(chip), "-fno-sanitize=undefined")
        # Its own libraries' debug information says where zig is installed.
        link_flags = ("-Wl,--strip-debug", *(() if chip.triple == "host" else ("-static",)))
        # Arm's architectures are not in its table of CPUs; the chip's CPU says the same.
        return Toolchain(self.name, command, "Clang", select, link_flags, ("-march=arm",))

    def remedy(self, chip: Chip) -> str:
        return "pip install ziglang"

    @staticmethod
    def _target(chip: Chip) -> tuple[str, ...]:
        if chip.triple == "host":
            return ()
        arch, _, system = chip.triple.partition("-")
        if system == "linux-gnu":
            return ("-target", f"{arch}-linux-musl")
        if arch != "arm":
            return ("-target", f"{arch}-freestanding-none")
        abi = "eabihf" if "-mfloat-abi=hard" in chip.cflags else "eabi"
        return ("-target", f"thumb-freestanding-{abi}")

    @staticmethod
    def _cpu_flags(chip: Chip) -> list[str]:
        """Zig's CPU names have underscores, and imply the rest of what GCC is told."""
        implied = ("-mthumb", "-mfloat-abi=", "-mfpu=")
        kept = [flag for flag in chip.cflags if not flag.startswith(implied)]
        return [f.replace("-", "_").replace("_", "-", 1) if "=" in f else f for f in kept]


_KINDS: dict[str, ToolchainKind] = {kind.name: kind for kind in (Gcc(), Clang(), Zig())}


def toolchain_names() -> list[str]:
    return list(_KINDS)


def first_toolchain(
    chip: Chip, kinds: Sequence[ToolchainKind] = tuple(_KINDS.values())
) -> Toolchain | None:
    """The first of ``kinds`` that is installed for ``chip``."""
    return next(filter(None, (kind.find(chip) for kind in kinds)), None)


def find_toolchain(board: Board, requested: str | None = None) -> Toolchain:
    """The first of the board's toolchains that is installed, or the one ``requested``.

    Raises UsageError for an unknown name, ToolError (with what to install) where there is none.
    """
    if requested is not None and requested not in _KINDS:
        raise UsageError(f"--toolchain '{requested}': choose one of {', '.join(_KINDS)}")
    kinds = [_KINDS[name] for name in ([requested] if requested else board.toolchains)]
    found = first_toolchain(board.chip, kinds)
    if found is not None:
        return found
    remedies = " or ".join(f"`{kind.remedy(board.chip)}`" for kind in kinds)
    what = f"the toolchain '{requested}'" if requested else "a C compiler"
    raise ToolError(f"board '{board.name}': {what} for {board.chip.triple} is missing; {remedies}")


@functools.cache
def _version(command: tuple[str, ...]) -> str:
    return _output((*command, "--version")).partition("\n")[0].strip()


def _output(command: tuple[str, ...]) -> str:
    """What a program prints, or nothing if it fails."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _links(toolchain: Toolchain) -> bool:
    """Whether an empty program links: a cross libc may be missing."""
    flags = (*toolchain.compile_flags, *toolchain.link_flags)
    try:
        done = subprocess.run(
            [*toolchain.command, *flags, "-x", "c", "-", "-o", os.devnull],
            input=b"int main(void) { return 0; }\n",
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
