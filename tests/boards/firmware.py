"""Builds the echo stand-in for a board, and speaks its one-letter commands."""

from __future__ import annotations

import struct
import time
from pathlib import Path

from compiler.board import Board
from compiler.device.cmake import compile_program
from compiler.device.firmware import Image, board_sources, finish_image, runtime_sources
from compiler.device.settings import Program
from compiler.device.streams import Stream
from compiler.device.toolchains import find_toolchain
from compiler.target import target_chain

ECHO = Path(__file__).parent / "echo.c"

#: An address at which no board here has anything.
FAULT_AT = 0x90000000


def build_echo(board: Board, out: Path, toolchain: str | None = None) -> Image:
    """The image of echo.c on the board's real port."""
    compiler = find_toolchain(board, toolchain)
    memory = [path for path in runtime_sources(board) if path.name == "freestanding.c"]
    cflags = [flag for target in target_chain(board.target) for flag in target.cflags]
    program = Program(
        sources=[ECHO, *memory, *board_sources(board)],
        cflags=[*cflags, f"-DFAULT_AT={FAULT_AT:#x}", "-Wall", "-Wextra", "-pedantic", "-Werror"],
    )
    return finish_image(
        board, compiler, compile_program(board, compiler, program, out / "b", out), out
    )


def read_line(stream: Stream, seconds: float = 10) -> str:
    """One line without its end; fails if none comes in time."""
    line = b""
    deadline = time.monotonic() + seconds
    while not line.endswith(b"\n"):
        assert time.monotonic() < deadline, f"no line within {seconds} s, only {line!r}"
        line += stream.read(1, 0.5)
    return line.decode().strip()


def read_exactly(stream: Stream, count: int, seconds: float = 10) -> bytes:
    data = b""
    deadline = time.monotonic() + seconds
    while len(data) < count:
        assert time.monotonic() < deadline, f"{len(data)} of {count} bytes within {seconds} s"
        data += stream.read(count - len(data), 0.5)
    return data


def ask(stream: Stream, letter: str, argument: int | None = None) -> list[int]:
    """Send a command, and read the numbers of its reply."""
    stream.write(letter.encode() + (b"" if argument is None else struct.pack("<I", argument)))
    return [int(word) for word in read_line(stream).split()]
