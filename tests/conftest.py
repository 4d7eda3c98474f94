"""What tests of several folders share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.c_tests import build_c_tests


@pytest.fixture(scope="session")
def c_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the programs of tests/runtime, sanitized; built once per session."""
    return build_c_tests(tmp_path_factory.mktemp("c_tests"))
