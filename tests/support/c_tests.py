"""Builds the C programs of ``tests/runtime``: unit tests, and firmware with the fake model."""

from __future__ import annotations

import subprocess
from pathlib import Path

from compiler.blob import write_blob
from tests.support.fake_model import fake_blob

SOURCES = Path(__file__).resolve().parents[1] / "runtime"


def build_c_tests(folder: Path, *options: str) -> Path:
    """Configures and builds in ``folder``; fails with the compiler's words."""
    blob = folder / "fake.blob"
    blob.write_bytes(write_blob(fake_blob()))
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(SOURCES), "-B", str(folder), f"-DBLOB_FILE={blob}"],
        ["cmake", "--build", str(folder), "--parallel", "2"],
    ):
        if "-S" in command:
            command += options
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder
