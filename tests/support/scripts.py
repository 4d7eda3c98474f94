"""Imports files of ``scripts/``, which is no package."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from compiler.paths import ROOT


def script(name: str) -> ModuleType:
    """``scripts/<name>.py`` as a module."""
    folder = str(ROOT / "scripts")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


def zoo_model(name: str) -> Path:
    """A file of the model zoo, fetched when needed; the test is skipped where that fails."""
    zoo = script("zoo")
    try:
        path: Path = zoo.model(name)
    except zoo.ZooError as error:
        pytest.skip(str(error))
    return path
