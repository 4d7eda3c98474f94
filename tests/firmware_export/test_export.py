"""Exported folders compile on their own, load and run, and are well formed."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pytest

from compiler import api
from compiler.errors import UsageError
from compiler.firmware_export.formats import FORMATS
from compiler.manifest import Build
from compiler.options import BuildOptions

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("built")
    return api.build(board="host", out=folder, options=BuildOptions(quantize="int8"))


def _isa_flags(built: Build) -> list[str]:
    from compiler.target import target_chain

    chain = target_chain(built.manifest["target"])
    return [flag for target in chain for flag in target.cflags]


def _compile(sources: list[Path], include: Path, built: Build, program: Path) -> None:
    flags = [*STRICT, *_isa_flags(built), "-O1", "-I", str(include)]
    command = ["cc", *flags, *map(str, sources), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def test_cmake_library_and_example(built: Build, tmp_path: Path) -> None:
    api.export(built.folder, format="cmake", out=tmp_path)
    flags = " ".join(_isa_flags(built))
    for command in (
        ["cmake", "-S", ".", "-B", "b", "-G", "Ninja", f"-DKILN_CPU_FLAGS={flags}"],
        ["cmake", "--build", "b"],
        ["b/example"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)


def test_single_file_is_all_there_is(built: Build, tmp_path: Path) -> None:
    api.export(built.folder, format="single-file", out=tmp_path)
    text = (tmp_path / "kiln_single.c").read_text()
    includes = {line for line in text.splitlines() if line.startswith('#include "')}
    assert includes == {'#include "kiln_single.h"'}
    program = tmp_path / "example"
    _compile([tmp_path / "kiln_single.c", tmp_path / "main.c"], tmp_path, built, program)
    assert subprocess.run([program], check=False, timeout=20).returncode == 0


@pytest.mark.parametrize("name", ["arduino", "zephyr", "cmsis-pack"])
def test_sources_compile_with_one_include_folder(name: str, built: Build, tmp_path: Path) -> None:
    api.export(built.folder, format=name, out=tmp_path / "out")
    example = tmp_path / "main.c"
    api.export(built.folder, format="cmake", out=tmp_path / "cmake")
    shutil.copy(tmp_path / "cmake/example/main.c", example)
    source = tmp_path / "out/src"
    program = tmp_path / "example"
    _compile([*sorted(source.glob("*.c")), example], source, built, program)
    assert subprocess.run([program], check=False, timeout=20).returncode == 0


def test_descriptions(built: Build, tmp_path: Path) -> None:
    for name in ("arduino", "zephyr", "cmsis-pack"):
        api.export(built.folder, format=name, out=tmp_path / name)
    properties = (tmp_path / "arduino/library.properties").read_text().splitlines()
    keys = dict(line.split("=", 1) for line in properties)
    assert keys["name"] == "digits" and (tmp_path / "arduino/src" / keys["includes"]).is_file()
    assert "kconfig: zephyr/Kconfig" in (tmp_path / "zephyr/zephyr/module.yml").read_text()
    pack = next((tmp_path / "cmsis-pack").glob("*.pack"))
    with zipfile.ZipFile(pack) as archive:
        root = ElementTree.fromstring(archive.read("Kiln.digits.pdsc"))
        named = {file.get("name") or "" for file in root.iter("file")}
        assert all(n.endswith("/") or n in archive.namelist() for n in named)
        assert "src/model_kernels.c" in named


def test_the_same_build_exports_the_same_bytes(built: Build, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        api.export(built.folder, format="cmsis-pack", out=tmp_path / folder)
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            other = tmp_path / "b" / path.relative_to(tmp_path / "a")
            assert path.read_bytes() == other.read_bytes()


def test_unknown_format(built: Build, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="single-file"):
        api.export(built.folder, format="keil", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert len(FORMATS) == 5
    assert json.loads((built.folder / "build.json").read_text())["board"] == "host"
