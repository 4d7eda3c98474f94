"""The one interface of all runners, and their registry."""

from __future__ import annotations

import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from compiler.board import Board
from compiler.device.streams import Stream
from compiler.errors import ToolError, UsageError

#: Seconds that a flash tool may take.
_TOOL_SECONDS = 300


@dataclass(frozen=True)
class Missing:
    """A program that a runner needs and does not find, and how to get it."""

    tool: str
    remedy: str


@dataclass(frozen=True, eq=False)
class Runner(ABC):
    """Made for one board, the image that it is to run, and the ``--port`` (if any).

    ``options`` is the table of the runner's name in ``board.toml``.
    """

    board: Board
    image: Path
    port: str | None
    options: Mapping[str, Any]

    #: The verbs it has: what the others do is left to the board's other runners.
    can_flash: ClassVar[bool] = False
    can_open: ClassVar[bool] = False
    #: What its ports look like, for messages.
    port_help: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def accepts(cls, port: str | None) -> bool:
        """Whether ``--port`` is one for this runner."""

    def missing_tools(self) -> list[Missing]:
        return []

    def flash(self) -> str:
        """Put the image onto the board; returns one line saying what was done."""
        raise UsageError(f"board '{self.board.name}': cannot be flashed this way")

    def reset(self) -> None:
        """Restart the board. Raises UsageError where this runner has no way to."""
        raise UsageError(f"board '{self.board.name}': press its reset button; no runner can here")

    def open(self) -> Stream:
        """The board's console, with the image running behind it."""
        raise UsageError(f"board '{self.board.name}': has no console here; name it with --port")

    def option(self, key: str, default: str | None = None) -> str:
        """One word of the options; raises UsageError where it is missing."""
        value = self.options.get(key, default)
        if not isinstance(value, str):
            place = self.board.folder / "board.toml"
            raise UsageError(f"'{place}': this runner needs the text '{key}'; add it")
        return value

    def arguments(self, key: str = "arguments") -> list[str]:
        """A list of words of the options, empty where there is none."""
        return [str(item) for item in self.options.get(key, [])]


_RUNNERS: dict[str, type[Runner]] = {}


def runner(name: str) -> Callable[[type[Runner]], type[Runner]]:
    """Register a runner under the name that ``board.toml`` uses."""

    def register(cls: type[Runner]) -> type[Runner]:
        if name in _RUNNERS and _RUNNERS[name].__module__ != cls.__module__:
            raise UsageError(
                f"runner '{name}': defined in {_RUNNERS[name].__module__} and {cls.__module__}; "
                "rename one"
            )
        _RUNNERS[name] = cls
        return cls

    return register


def registered_runners() -> Mapping[str, type[Runner]]:
    return _RUNNERS


def missing_program(program: str, remedy: str) -> list[Missing]:
    """One entry where ``program`` is not installed."""
    return [] if shutil.which(program) else [Missing(program, remedy)]


def run_tool(command: Sequence[str], input_bytes: bytes | None = None) -> str:
    """Run a flash tool to its end; returns what it printed. Raises ToolError with its last line."""
    try:
        done = subprocess.run(
            command,
            input=input_bytes or b"",
            capture_output=True,
            timeout=_TOOL_SECONDS,
            check=False,
        )
    except OSError as error:
        raise ToolError(f"cannot start '{command[0]}': {error.strerror}; install it") from None
    except subprocess.TimeoutExpired:
        raise ToolError(
            f"'{command[0]}' took over {_TOOL_SECONDS} s; is the board there?"
        ) from None
    output = (done.stdout + done.stderr).decode(errors="replace").strip()
    if done.returncode != 0:
        last = output.splitlines()[-1].strip() if output else f"exit status {done.returncode}"
        raise ToolError(f"'{command[0]}' failed: {last}; check cable, power and address")
    return output
