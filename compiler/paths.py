"""Where the runtime, targets and boards lie: in the checkout, or inside the installed package."""

from __future__ import annotations

from pathlib import Path

_package = Path(__file__).resolve().parent
_installed = _package / "_files"

#: Folder that holds ``runtime/``, ``targets/``, ``boards/`` and ``CMakeLists.txt``.
ROOT = _installed if _installed.is_dir() else _package.parent
RUNTIME = ROOT / "runtime"
TARGETS = ROOT / "targets"
BOARDS = ROOT / "boards"
