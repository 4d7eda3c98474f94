"""Builds the C tests once per session."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compiler.blob import write_blob
from tests.support.fake_model import fake_blob

HERE = Path(__file__).resolve().parent


def build_c_tests(folder: Path, *options: str) -> Path:
    """Configures and builds tests/runtime in ``folder``; fails with the compiler's words."""
    blob = folder / "fake.blob"
    blob.write_bytes(write_blob(fake_blob()))
    options = (f"-DBLOB_FILE={blob}", *options)
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(HERE), "-B", str(folder), *options],
        ["cmake", "--build", str(folder), "--parallel", "2"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def c_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the C test programs, sanitized."""
    return build_c_tests(tmp_path_factory.mktemp("c_tests"))
