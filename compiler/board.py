"""Boards and their chips, as ``boards/<board>/board.toml`` and ``boards/chips/<chip>.toml`` say."""

from __future__ import annotations

import difflib
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from compiler.errors import UsageError
from compiler.paths import BOARDS
from compiler.processor import runs_here
from compiler.target import load_target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

T = TypeVar("T")

#: Folders laid out as ``boards/`` is; plugins add theirs with `add_board_folder`.
_folders: list[Path] = [BOARDS]


@dataclass(frozen=True)
class Region:
    """A stretch of memory that the linker may fill."""

    name: str
    origin: int
    bytes: int


@dataclass(frozen=True)
class Checksum:
    """A section whose last 4 bytes are the checksum of the rest (a boot ROM checks it)."""

    section: str
    kind: str


@dataclass(frozen=True)
class Chip:
    """A processor and its memory. Without regions it runs an operating system.

    ``startup`` names the files ``startup/<startup>*.{c,S,ld}`` of the CPU's family; ``triple`` is
    the compiler's target, or ``host``; ``code``, ``data`` and ``arena`` are regions.
    """

    name: str
    description: str
    triple: str
    cflags: tuple[str, ...]
    startup: str | None
    regions: tuple[Region, ...]
    code: str | None
    data: str | None
    arena: str | None
    stack_bytes: int
    sources: tuple[Path, ...]
    defines: Mapping[str, int | str]
    checksum: Checksum | None

    def region(self, name: str | None) -> Region | None:
        return next((r for r in self.regions if r.name == name), None)


@dataclass(frozen=True)
class RunnerChoice:
    """A runner's name in ``compiler/device/runners/``, and what the board tells it."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    """A chip on a printed circuit, or an emulator of one. ``image`` is the file flashed.

    ``format`` is that of the image: executable, elf, bin or uf2. ``runners`` are in order of
    preference. ``files`` go beside the image.
    """

    name: str
    description: str
    folder: Path
    chip: Chip
    target: str
    image: str
    format: str
    is_emulated: bool
    baud: int
    toolchains: tuple[str, ...]
    runners: tuple[RunnerChoice, ...]
    sources: tuple[Path, ...]
    files: tuple[Path, ...]
    defines: Mapping[str, int | str]
    link_flags: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """What ``boards`` lists of it."""
        return {
            "name": self.name,
            "description": self.description,
            "chip": self.chip.name,
            "target": self.target,
            "emulated": self.is_emulated,
            "memory": {region.name: region.bytes for region in self.chip.regions},
            "toolchains": list(self.toolchains),
            "runners": [choice.name for choice in self.runners],
        }


class _Table:
    """A TOML table whose keys are asked for one by one; what is left over is a mistake."""

    def __init__(self, path: Path, table: Mapping[str, Any]) -> None:
        self.path = path
        self._left = dict(table)

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        value = self._left.pop(key, default)
        if value is None:
            raise UsageError(f"'{self.path}': the key '{key}' is missing; add it")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UsageError(f"'{self.path}': '{key}' must be of type {kind.__name__}")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        return tuple(str(item) for item in self.take(key, list, []))

    def optional(self, key: str) -> str | None:
        return self.take(key, str, "") or None

    def close(self) -> None:
        if self._left:
            unknown = ", ".join(f"'{key}'" for key in sorted(self._left))
            raise UsageError(f"'{self.path}': unknown key {unknown}; remove or correct it")


def add_board_folder(folder: Path) -> None:
    """Also look for boards and chips in ``folder``, which is laid out as ``boards/`` is."""
    if not any(folder.glob("*/board.toml")):
        raise UsageError(f"plugin '{folder}': holds no board; expected <board>/board.toml in it")
    if folder.resolve() not in _folders:
        _folders.append(folder.resolve())


def board_names() -> list[str]:
    return sorted({p.parent.name for root in _folders for p in root.glob("*/board.toml")})


def load_board(name: str) -> Board:
    """Raises UsageError where there is no such board, or its file is wrong."""
    names = board_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise UsageError(f"unknown board '{name}'; {hint}known: {', '.join(names)}")
    folder = _find(f"{name}/board.toml").parent
    table = _read(folder / "board.toml")
    runner_names = table.names("runners")
    options = {runner: table.take(runner, dict, {}) for runner in runner_names}
    board = Board(
        name=name,
        description=table.take("description", str),
        folder=folder,
        chip=load_chip(_this_machine(table, "chip")),
        target=_this_machine(table, "target"),
        image=table.take("image", str),
        format=table.take("format", str),
        is_emulated=table.take("emulated", bool, False),
        baud=table.take("baud", int, 115200),
        toolchains=table.names("toolchains"),
        runners=tuple(RunnerChoice(runner, options[runner]) for runner in runner_names),
        sources=_sources(table, "sources", folder),
        files=_sources(table, "files", folder),
        defines=table.take("defines", dict, {}),
        link_flags=table.names("link_flags"),
    )
    table.close()
    return board


def load_chip(name: str) -> Chip:
    """Raises UsageError where there is no such chip, or its file is wrong."""
    path = _find(f"chips/{name}.toml")
    table = _read(path)
    regions = _regions(table)
    first = regions[0].name if regions else ""
    last = regions[-1].name if regions else ""
    checksum = table.take("checksum", dict, {})
    data = table.take("data", str, last) or None
    chip = Chip(
        name=name,
        description=table.take("description", str),
        triple=table.take("triple", str),
        cflags=table.names("cflags"),
        startup=table.optional("startup"),
        regions=regions,
        code=table.take("code", str, first) or None,
        data=data,
        arena=table.take("arena", str, data or "") or None,
        stack_bytes=table.take("stack_bytes", int, 0),
        sources=_sources(table, "sources", path.parent),
        defines=table.take("defines", dict, {}),
        checksum=Checksum(**checksum) if checksum else None,
    )
    table.close()
    for use in (chip.code, chip.data, chip.arena):
        if use is not None and chip.region(use) is None:
            raise UsageError(f"'{path}': there is no region '{use}'; name one of [regions]")
    return chip


def _read(path: Path) -> _Table:
    try:
        return _Table(path, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"'{path}': cannot be read as TOML: {error}") from None


def _find(name: str) -> Path:
    """The file in the first board folder that has it; else where it should be in Kiln's own."""
    return next((root / name for root in _folders if (root / name).is_file()), _folders[0] / name)


def _this_machine(table: _Table, key: str) -> str:
    """A target's name, or a table of names by `platform.machine`, with ``default``.

    Of several names the first that this processor has the features for is taken.
    """
    value: object = table.take(key, object)
    if isinstance(value, dict):
        value = value.get(platform.machine(), value.get("default"))
    if isinstance(value, list):
        value = next((name for name in value if runs_here(load_target(name))), None)
    if not isinstance(value, str):
        raise UsageError(
            f"'{table.path}': '{key}' names nothing for {platform.machine()}; add a default"
        )
    return value


def _regions(table: _Table) -> tuple[Region, ...]:
    regions = []
    for name, entry in table.take("regions", dict, {}).items():
        fields = _Table(table.path, entry)
        regions.append(Region(name, fields.take("origin", int), fields.take("bytes", int)))
        fields.close()
    return tuple(regions)


def _sources(table: _Table, key: str, beside: Path) -> tuple[Path, ...]:
    """Files beside the TOML file, or else in one of the board folders."""
    found = []
    for name in table.names(key):
        local = beside / name
        found.append(local if local.is_file() else _find(name))
    return tuple(found)
