"""Builds the C programs of ``tests/runtime``: unit tests, and firmware with the fake model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from compiler.paths import ROOT


def build_c_tests(folder: Path) -> Path:
    """Configures and builds in ``folder``; fails with the compiler's words."""
    options = ["-DKILN_TESTS=ON", f"-DPython3_EXECUTABLE={sys.executable}"]
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(folder), *options],
        ["cmake", "--build", str(folder), "--parallel", "2"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder
