"""What the processor that runs the tests can do."""

from __future__ import annotations

import platform
from pathlib import Path


def has_features(*names: str) -> bool:
    """Whether this is an x86-64 machine with all of ``names``, as Linux spells them."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    information = Path("/proc/cpuinfo")
    if not information.is_file():
        return False
    flags = next((x for x in information.read_text().splitlines() if x.startswith("flags")), "")
    return set(names) <= set(flags.split())
