"""Toolchains: order of preference, what is said when one is missing, what each builds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from compiler.board import load_board
from compiler.device import toolchains
from compiler.device.client import Client
from compiler.device.firmware import build_image
from compiler.device.runners import open_stream, select_runner
from compiler.device.toolchains import Clang, Gcc, Zig, find_toolchain, toolchain_names
from compiler.errors import ToolError, UsageError
from compiler.target import target_chain
from tests.support.firmware_model import write_model


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(toolchains.importlib.util, "find_spec", lambda _: None)


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    ("board", "package"),
    [
        ("mps2-an386", "gcc-arm-none-eabi"),
        ("rpi4", "gcc-aarch64-linux-gnu"),
        ("rpi3-baremetal", "gcc-aarch64-linux-gnu"),
        ("host", "gcc"),
    ],
)
def test_without_a_compiler_the_message_says_what_to_install(board: str, package: str) -> None:
    with pytest.raises(ToolError, match=rf"{package}.*pip install ziglang") as caught:
        find_toolchain(load_board(board))
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("nothing_installed")
def test_a_requested_toolchain_is_not_replaced_by_another() -> None:
    with pytest.raises(ToolError, match=r"toolchain 'zig'.*`pip install ziglang`$"):
        find_toolchain(load_board("mps2-an386"), "zig")


def test_unknown_toolchain_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="'msvc': choose one of gcc, clang, zig"):
        find_toolchain(load_board("host"), "msvc")


def test_first_of_the_board_that_is_there_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    board = load_board("host")
    monkeypatch.setattr(Gcc, "find", lambda *_: None)
    monkeypatch.setattr(Clang, "find", lambda *_: None)
    zig = toolchains.Toolchain("zig", ("zig", "cc"), "Clang", (), ())
    monkeypatch.setattr(Zig, "find", lambda *_: zig)
    assert find_toolchain(board) is zig


#: Zig compiles a C library first.
SLOW = {("rpi4", "zig")}
BUILDS = [
    pytest.param(name, toolchain, marks=[pytest.mark.slow] if (name, toolchain) in SLOW else [])
    for name in ("mps2-an386", "rpi3-baremetal", "rpi4", "host", "rpi-pico")
    for toolchain in toolchain_names()
]


@pytest.mark.parametrize(("name", "toolchain"), BUILDS)
def test_each_toolchain_builds_what_runs(name: str, toolchain: str, tmp_path: Path) -> None:
    board = load_board(name)
    try:
        find_toolchain(board, toolchain)
    except ToolError as error:
        pytest.skip(str(error))
    flags = tuple(flag for target in target_chain(board.target) for flag in target.cflags)
    image = build_image(board, write_model(tmp_path), toolchain, flags)
    assert image.tools["compiler"].startswith(f"{toolchain}: ")
    try:
        select_runner(board, "open", image.path)
    except UsageError:
        return
    except ToolError as error:
        pytest.skip(f"built, not run: {error}")
    with open_stream(board, image.path) as stream:
        assert Client(stream).hello().board == name
