"""Finds the generated flatbuffers schema of TFLite files in an installed package.

Only that one file is loaded, never the package around it: tflite-support's top level needs
libusb, ai-edge-litert's loads an inference runtime.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from types import ModuleType

from compiler.errors import ToolError

#: (top-level package, file inside it), in order of preference.
_PLACES = (
    ("tensorflow_lite_support", "metadata/schema_py_generated.py"),
    ("ai_edge_litert", "schema_py_generated.py"),
)


@functools.cache
def schema() -> ModuleType:
    """The module with ``Model``, ``BuiltinOperator`` and so on. Raises ToolError."""
    for package, relative in _PLACES:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(folder) / relative
            if path.is_file():
                return _load(path)
    raise ToolError(
        "reading .tflite files needs the TFLite schema; install it with 'pip install "
        "ai-edge-litert' or 'pip install tflite-support'"
    )


@functools.cache
def names_of(enumeration: str) -> dict[int, str]:
    """Number to name of one of the schema's enumerations."""
    return {
        value: name
        for name, value in vars(getattr(schema(), enumeration)).items()
        if isinstance(value, int)
    }


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("compiler._tflite_schema", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
