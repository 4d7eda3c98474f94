"""Kiln: compiles a trained network ahead of time into firmware.

The commands are functions of this package; `compiler.api` documents them. They are imported when
first used, so that ``import compiler`` is quick.
"""

from __future__ import annotations

import importlib
from typing import Any

#: Functions and types of `compiler.api` that ``import compiler`` offers.
_OFFERED = (
    "Build",
    "BuildOptions",
    "CheckResult",
    "KilnError",
    "Profile",
    "RunResult",
    "boards",
    "build",
    "check",
    "connect",
    "export",
    "flash",
    "flash_blob",
    "inspect",
    "lower",
    "ops",
    "profile",
    "run",
    "simulate",
    "targets",
)

__all__ = list(_OFFERED)


def __getattr__(name: str) -> Any:
    if name in _OFFERED:
        return getattr(importlib.import_module("compiler.api"), name)
    raise AttributeError(f"module 'compiler' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(_OFFERED)
