"""Targets: an instruction set each, described by ``targets/<target>/target.toml``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from compiler.errors import UsageError
from compiler.paths import TARGETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Target:
    """``fallback`` is the next target to ask for a kernel; ``cflags`` select the ISA.

    ``features`` are what a processor must have, in Linux's names (/proc/cpuinfo).
    """

    name: str
    description: str
    fallback: str | None
    cflags: tuple[str, ...]
    alignment: int  # bytes, of each buffer in the arena and of each constant in the blob
    folder: Path
    features: tuple[str, ...] = ()


def target_names() -> list[str]:
    return sorted(p.parent.name for p in TARGETS.glob("*/target.toml"))


def load_target(name: str) -> Target:
    """Raises UsageError where there is no such target."""
    path = TARGETS / name / "target.toml"
    if not path.is_file():
        raise UsageError(f"unknown target '{name}'; known: {', '.join(target_names())}")
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Target(
        name=name,
        description=table["description"],
        fallback=table.get("fallback"),
        cflags=tuple(table.get("cflags", ())),
        alignment=int(table.get("alignment", 16)),
        folder=path.parent,
        features=tuple(table.get("features", ())),
    )


def target_chain(name: str) -> tuple[Target, ...]:
    """The target and its fallbacks, most special first."""
    chain = [load_target(name)]
    while (following := chain[-1].fallback) is not None:
        if any(t.name == following for t in chain):
            raise UsageError(f"target '{name}': its fallback chain comes back to '{following}'")
        chain.append(load_target(following))
    return tuple(chain)
