"""The plugin that counts instructions under QEMU's user mode, and what happens without it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler.board import load_board
from compiler.device.client import Client
from compiler.device.firmware import build_image
from compiler.device.runners import counting, open_stream
from compiler.device.runners.counting import make_counter
from compiler.errors import ToolError
from compiler.paths import BOARDS
from tests.support.firmware_model import write_model

QEMU = "qemu-aarch64"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    if shutil.which(QEMU) is None or shutil.which("gcc") is None:
        pytest.skip(f"needs {QEMU} and gcc")
    try:
        return build_image(load_board("rpi4"), write_model(tmp_path / "model")).path
    except ToolError as error:
        pytest.skip(str(error))


def count(program: Path, folder: Path, *flags: str) -> int:
    """Instructions of a run that ends at once, counted by the plugin built with ``flags``."""
    plugin, counter = folder / "count.so", folder / "counter"
    counter.write_bytes(bytes(8))
    command = ["gcc", "-shared", "-fPIC", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    command += ["-DPLUGIN_VERSION=1", *flags, str(BOARDS / "qemu" / "count.c"), "-o", str(plugin)]
    subprocess.run(command, check=True, timeout=60)
    run = [QEMU, "-plugin", f"{plugin},counter={counter}", str(program), "--"]
    ended = subprocess.run(run, capture_output=True, timeout=60, check=False)
    if b"plugin" in ended.stderr:
        pytest.skip("this QEMU does not take plugins of version 1")
    return int.from_bytes(counter.read_bytes(), "little")


def test_both_ways_of_counting_agree(program: Path, tmp_path: Path) -> None:
    inline = count(program, tmp_path, "-DPLUGIN_INLINE=1")
    assert inline == count(program, tmp_path, "-DPLUGIN_INLINE=0")
    assert 1_000 < inline < 10_000_000


def test_without_plugins_time_is_measured(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_plugin_version", lambda _: None)
    assert make_counter(QEMU, program) is None
    with open_stream(load_board("rpi4"), program) as stream:
        assert Client(stream).hello().unit == "ns"


def test_a_plugin_that_qemu_refuses_is_done_without(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_plugin_version", lambda _: 99)
    assert make_counter(QEMU, program) is None


def test_plugin_and_counter_are_removed_with_the_stream(program: Path) -> None:
    counter = make_counter(QEMU, program)
    if counter is None:
        pytest.skip("this QEMU takes no plugins")
    counter.folder.cleanup()
    with open_stream(load_board("rpi4"), program) as stream:
        assert Client(stream).hello().unit == "instructions"
        arguments = stream._process.popen.args  # type: ignore[attr-defined]
        plugin = Path(arguments[arguments.index("-plugin") + 1].partition(",")[0])
        assert plugin.is_file()
    assert not plugin.parent.exists()
