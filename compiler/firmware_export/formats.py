"""The layouts: one folder of templates each, and where the sources go."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from compiler.errors import UsageError
from compiler.files import staged, write_bytes
from compiler.firmware_export.collect import identifier, source_files
from compiler.firmware_export.single_file import amalgamate
from compiler.manifest import Build

_TEMPLATES = Path(__file__).parent / "templates"
Files = dict[str, bytes]


def export_build(build: Build, out: Path, format_name: str) -> list[Path]:
    """Write the build in ``format_name`` into ``out``; returns the files. Raises KilnError.

    Each layout has the same example, ``main.c``: load, fill the input, run, read the output.
    """
    if format_name not in FORMATS:
        raise UsageError(f"--format '{format_name}': choose one of {', '.join(FORMATS)}")
    sources = dict(source_files(build))
    rendered = _rendered(format_name, _facts(build, sources))
    files = FORMATS[format_name](sources, rendered, _facts(build, sources))
    with staged(out) as stage:
        for name, data in files.items():
            write_bytes(stage / name, data)
    return [out / name for name in files]


def _facts(build: Build, sources: Mapping[str, bytes]) -> dict[str, object]:
    name = identifier(str(build.manifest["model"]))
    return {
        "name": name,
        "title": build.manifest["model"],
        "board": build.manifest["board"],
        "target": build.manifest["target"],
        "arena_bytes": build.manifest["arena_bytes"],
        "blob_bytes": build.manifest["blob_bytes"],
        "sources": [n for n in sources if n.endswith(".c")],
        "headers": [n for n in sources if n.endswith(".h")],
        "inputs": build.manifest["inputs"],
        "outputs": build.manifest["outputs"],
    }


def _rendered(format_name: str, facts: Mapping[str, object]) -> Files:
    """The templates of the format, then the common ones that it does not have itself."""
    result: Files = {}
    for folder in ("common", format_name):
        root = _TEMPLATES / folder
        environment = Environment(
            loader=FileSystemLoader(root), undefined=StrictUndefined, keep_trailing_newline=True
        )
        for path in sorted(p for p in root.rglob("*.j2")):
            name = path.relative_to(root).as_posix()
            result[name.removesuffix(".j2")] = environment.get_template(name).render(facts).encode()
    return result


def _below(folder: str, files: Mapping[str, bytes]) -> Files:
    return {f"{folder}/{name}": data for name, data in files.items()}


def _cmake(sources: Files, rendered: Files, facts: Mapping[str, object]) -> Files:
    return _below("src", sources) | {
        "CMakeLists.txt": rendered["CMakeLists.txt"],
        "example/main.c": rendered["main.c"],
        "README.md": rendered["README.md"],
    }


def _arduino(sources: Files, rendered: Files, facts: Mapping[str, object]) -> Files:
    """The library layout of Arduino's specification, revision 1.5: all sources below src/."""
    return _below("src", sources) | {
        "library.properties": rendered["library.properties"],
        f"src/{facts['name']}.h": rendered["library.h"],
        f"examples/{facts['name']}/{facts['name']}.ino": rendered["example.ino"],
        "README.md": rendered["README.md"],
    }


def _zephyr(sources: Files, rendered: Files, facts: Mapping[str, object]) -> Files:
    """A Zephyr module: zephyr/module.yml names CMakeLists.txt and Kconfig."""
    return _below("src", sources) | {
        "zephyr/module.yml": rendered["module.yml"],
        "zephyr/CMakeLists.txt": rendered["CMakeLists.txt"],
        "zephyr/Kconfig": rendered["Kconfig"],
        "example/main.c": rendered["main.c"],
        "README.md": rendered["README.md"],
    }


def _cmsis_pack(sources: Files, rendered: Files, facts: Mapping[str, object]) -> Files:
    """A pack is a zip whose description, <vendor>.<name>.pdsc, lies at its root."""
    pdsc = f"Kiln.{facts['name']}.pdsc"
    content = _below("src", sources) | {
        pdsc: rendered["pack.pdsc"],
        "example/main.c": rendered["main.c"],
        "README.md": rendered["README.md"],
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return content | {f"Kiln.{facts['name']}.1.0.0.pack": packed.getvalue()}


def _single_file(sources: Files, rendered: Files, facts: Mapping[str, object]) -> Files:
    main = rendered["main.c"].replace(b'"kiln_model.h"', b'"kiln_single.h"')
    texts = {name: text.encode() for name, text in amalgamate(sources).items()}
    return texts | {"main.c": main, "README.md": rendered["README.md"]}


FORMATS: Mapping[str, Callable[[Files, Files, Mapping[str, object]], Files]] = {
    "cmake": _cmake,
    "arduino": _arduino,
    "zephyr": _zephyr,
    "cmsis-pack": _cmsis_pack,
    "single-file": _single_file,
}
