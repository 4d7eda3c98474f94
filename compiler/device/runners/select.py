"""Chooses among a board's runners by what is to be done, the port, and what is installed."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from pathlib import Path

import compiler.device.runners as package
from compiler.board import Board, RunnerChoice
from compiler.device.runners.base import Missing, Runner, registered_runners
from compiler.device.streams import Stream
from compiler.errors import ToolError, UsageError

#: Reaches any board that is already running.
_SERIAL = RunnerChoice("serial")


@functools.cache
def _load() -> None:
    for info in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{info.name}")


def runner_names() -> list[str]:
    _load()
    return sorted(registered_runners())


def select_runner(board: Board, verb: str, image: Path, port: str | None = None) -> Runner:
    """The first of the board's runners that can ``flash`` or ``open``, takes the port, and works.

    Raises UsageError where none can, ToolError (with what to install) where tools are missing.
    """
    able = [r for r in _candidates(board, image, port) if getattr(r, f"can_{verb}")]
    fitting = [r for r in able if r.accepts(port)]
    if not fitting:
        raise UsageError(_port_hint(board, verb, port))
    missing: list[Missing] = []
    for candidate in fitting:
        lacks = candidate.missing_tools()
        if not lacks:
            return candidate
        missing += lacks
    tools = " or ".join(f"'{m.tool}' ({m.remedy})" for m in missing)
    raise ToolError(f"board '{board.name}': to {verb} it there is missing: {tools}")


def _candidates(board: Board, image: Path, port: str | None) -> list[Runner]:
    _load()
    known = registered_runners()
    choices = [*board.runners, *([] if _SERIAL in board.runners else [_SERIAL])]
    for choice in choices:
        if choice.name not in known:
            raise UsageError(
                f"'{board.folder / 'board.toml'}': unknown runner '{choice.name}'; "
                f"known: {', '.join(sorted(known))}"
            )
    return [known[choice.name](board, image, port, choice.options) for choice in choices]


def _port_hint(board: Board, verb: str, port: str | None) -> str:
    known = registered_runners()
    classes = [known[choice.name] for choice in (*board.runners, _SERIAL)]
    ports = [c.port_help for c in classes if getattr(c, f"can_{verb}") and c.port_help]
    given = f"--port '{port}' is none" if port else "--port is needed"
    ways = " or ".join(dict.fromkeys(ports))
    remedy = f"name {ways}" if ways else "leave --port out"
    return f"board '{board.name}': to {verb} it {given}; {remedy}"


def open_stream(board: Board, image: Path, port: str | None = None) -> Stream:
    """Start or reach the board; the stream must be closed (it is a context manager)."""
    return select_runner(board, "open", image, port).open()


def flash_image(board: Board, image: Path, port: str | None = None) -> str:
    """Put the image onto the board; returns one line saying what was done."""
    if not image.is_file():
        raise UsageError(f"image '{image}': no such file; run `build` first")
    return select_runner(board, "flash", image, port).flash()
