"""Gathers the C that a build needs outside of Kiln: the runtime's core, kernels, the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from compiler.emit_c import INCLUDE, header_closure
from compiler.files import read_bytes
from compiler.manifest import Build
from compiler.paths import RUNTIME, TARGETS

#: The runtime without its serial side: what kiln.h declares.
RUNTIME_SOURCES = ("kiln.c", "validate.c", "crc32.c", "status.c")
BYTES_PER_LINE = 16


def source_files(build: Build) -> Mapping[str, bytes]:
    """Path below the include folder -> content, of every file that is compiled or included."""
    kernels = read_bytes(build.folder / "model_kernels.c", "kernels").decode()
    files = {
        "kiln_model.h": read_bytes(build.folder / "kiln_model.h", "header"),
        "model_kernels.c": kernels.encode(),
        "model_blob.c": blob_source(read_bytes(build.folder / "model.blob", "blob")).encode(),
    }
    for name in RUNTIME_SOURCES:
        files[name] = (RUNTIME / name).read_bytes()
    for path in [*header_closure(INCLUDE.findall(kernels)), *_runtime_headers()]:
        root = TARGETS if path.is_relative_to(TARGETS) else RUNTIME
        files[path.relative_to(root).as_posix()] = path.read_bytes()
    return dict(sorted(files.items()))


def _runtime_headers() -> list[Path]:
    """Headers that the runtime's own sources include."""
    found: dict[Path, None] = {}
    waiting = [RUNTIME / name for name in RUNTIME_SOURCES]
    while waiting:
        for name in INCLUDE.findall(waiting.pop().read_text(encoding="utf-8")):
            header = RUNTIME / name
            if header.is_file() and header not in found:
                found[header] = None
                waiting.append(header)
    return list(found)


def blob_source(blob: bytes) -> str:
    """C that defines ``kiln_model_blob``, for build systems that do not take assembler."""
    lines = [
        ", ".join(f"0x{byte:02x}" for byte in blob[start : start + BYTES_PER_LINE])
        for start in range(0, len(blob), BYTES_PER_LINE)
    ]
    body = ",\n    ".join(lines)
    return (
        "/* The model blob: weights and the table of steps. Made by Kiln. */\n"
        '#include "kiln_model.h"\n\n'
        "const uint8_t kiln_model_blob[] __attribute__((aligned(64))) = {\n"
        f"    {body}}};\n"
        f"const uint32_t kiln_model_blob_bytes = {len(blob)};\n"
    )


def identifier(name: str) -> str:
    """A name that CMake, Arduino and C all take, made from the model's."""
    return re.sub(r"\W+", "_", name).strip("_").lower() or "model"
