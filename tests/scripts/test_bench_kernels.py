"""The kernel benchmark runs and prints a line for each layer."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "bench_kernels.py"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_line_per_layer() -> None:
    arguments = ["--target", "reference", "--model", "ad", "--sample-us", "1"]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    *layers, total = done.stdout.splitlines()
    assert len(layers) == 5
    assert all(re.search(r"fully_connected_int8__reference .* GMAC/s$", line) for line in layers)
    assert re.fullmatch(r"total [\d.]+ us, [\d.]+ GMAC/s", total)
