"""What this machine's processor can do, for boards that are this machine."""

from __future__ import annotations

import functools
from pathlib import Path

from compiler.target import Target

_INFORMATION = Path("/proc/cpuinfo")


@functools.cache
def processor_features() -> frozenset[str]:
    """Instruction set extensions as Linux names them; empty where that is not known."""
    if not _INFORMATION.is_file():
        return frozenset()
    for line in _INFORMATION.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return frozenset()


def runs_here(target: Target) -> bool:
    """Whether this processor has all that ``target`` needs."""
    return processor_features().issuperset(target.features)
