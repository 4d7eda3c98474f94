"""Everything in one C file: each include is replaced by the file that it names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from compiler.emit_c import INCLUDE

#: The one header that stays apart: what the application includes.
PUBLIC = ("kiln.h", "kiln_model.h")
_GUARD = re.compile(r"^\s*#ifndef (\w+)\s*\n#define \1\s*$", re.MULTILINE)


def amalgamate(files: Mapping[str, bytes]) -> Mapping[str, str]:
    """``kiln_single.h`` and ``kiln_single.c`` from the files of `collect.source_files`."""
    header = _Expansion(files)
    public = "".join(header.expand(name) for name in PUBLIC)
    body = _Expansion(files, set(header.seen))
    sources = [name for name in files if name.endswith(".c")]
    text = "".join(body.expand(name) for name in sources)
    return {
        "kiln_single.h": "/* Kiln's runtime API and one model. Made by Kiln. */\n" + public,
        "kiln_single.c": "/* Kiln's runtime, kernels and one model. Made by Kiln. */\n"
        f'#include "kiln_single.h"\n{text}',
    }


class _Expansion:
    """Text of files with their includes expanded; guarded headers come once."""

    def __init__(self, files: Mapping[str, bytes], seen: set[str] | None = None) -> None:
        self._files = files
        self.seen: set[str] = seen or set()

    def expand(self, name: str) -> str:
        text = self._files[name].decode()
        if name in self.seen and _GUARD.search(text):
            return ""
        self.seen.add(name)
        return f"\n/* ---- {name} ---- */\n" + INCLUDE.sub(
            lambda found: self._included(name, found[1], found[0]), text
        )

    def _included(self, includer: str, name: str, line: str) -> str:
        folder = includer.rpartition("/")[0]
        for candidate in (f"{folder}/{name}" if folder else name, name):
            if candidate in self._files:
                return self.expand(candidate).rstrip("\n")
        return line
