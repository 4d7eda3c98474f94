"""Loads everything that registers itself: operators, targets' kernels, plugins."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import sys
import types
from importlib.metadata import entry_points
from pathlib import Path

import compiler.operators
from compiler.board import add_board_folder
from compiler.errors import UsageError
from compiler.paths import TARGETS


def _target_packages() -> None:
    """Make ``targets/`` importable as ``kiln_targets``, so that targets may share Python."""
    package = types.ModuleType("kiln_targets")
    package.__path__ = [str(TARGETS)]
    sys.modules["kiln_targets"] = package


def load_file(path: Path, module_name: str) -> None:
    """Import one Python file under ``module_name``; a second time does nothing."""
    if module_name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"plugin '{path}': not a Python file; give a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise


@functools.cache
def load_builtins() -> None:
    """Operators, then every target's kernels, then installed plugins (``kiln.plugins``)."""
    for info in pkgutil.iter_modules(compiler.operators.__path__):
        importlib.import_module(f"compiler.operators.{info.name}")
    _target_packages()
    for path in sorted(TARGETS.glob("*/*.py")):
        importlib.import_module(f"kiln_targets.{path.parent.name}.{path.stem}")
    for entry in entry_points(group="kiln.plugins"):
        entry.load()


def load_plugin(path: Path) -> None:
    """Load what ``--plugin`` names: a Python file, or a folder of boards laid out as ours is."""
    if path.is_dir():
        add_board_folder(path)
        for file in sorted(path.glob("*.py")):
            load_plugin(file)
        return
    if not path.is_file():
        raise UsageError(f"plugin '{path}': no such file or folder")
    load_file(path, f"kiln_plugins.{path.stem}")
