"""Real models for tests: a path, or a skip that says why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
import zoo


def zoo_model(name: str) -> Path:
    """Path of a zoo file; skips the running test where it cannot be fetched (offline)."""
    try:
        return zoo.model(name)
    except zoo.ZooError as error:
        if name not in zoo.ENTRIES:
            raise
        pytest.skip(str(error))
