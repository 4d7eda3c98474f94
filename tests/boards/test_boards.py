"""Boards and chips as read from their files: every one is sound, and mistakes are explained."""

from __future__ import annotations

import itertools
import platform
from pathlib import Path

import pytest

import compiler.board as boards
from compiler.board import add_board_folder, board_names, load_board
from compiler.device.runners import runner_names
from compiler.device.toolchains import toolchain_names
from compiler.errors import UsageError
from compiler.target import target_chain

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "_folders", list(boards._folders))


@pytest.mark.parametrize("name", board_names())
def test_every_board_names_what_exists(name: str) -> None:
    board = load_board(name)
    assert target_chain(board.target)[-1].name == "reference"
    assert board.toolchains and set(board.toolchains) <= set(toolchain_names())
    assert board.runners and {choice.name for choice in board.runners} <= set(runner_names())
    assert board.format in ("elf", "bin", "uf2", "executable")
    assert board.summary()["name"] == name


@pytest.mark.parametrize("name", board_names())
def test_regions_do_not_overlap(name: str) -> None:
    regions = sorted(load_board(name).chip.regions, key=lambda region: region.origin)
    for low, high in itertools.pairwise(regions):
        assert low.origin + low.bytes <= high.origin


def test_unknown_board_lists_the_known_and_the_closest() -> None:
    with pytest.raises(UsageError, match=r"'rpi4-bare'; did you mean 'rpi4-baremetal'\?.*mps2"):
        load_board("rpi4-bare")


def test_host_takes_the_target_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, target in (("aarch64", "arm_neon"), ("vax", "reference")):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        assert load_board("host").target == target


@pytest.mark.usefixtures("outside")
def test_boards_outside_the_tree_are_found() -> None:
    assert "netduinoplus2" not in board_names()
    add_board_folder(PLUGIN)
    board = load_board("netduinoplus2")
    assert board.chip.name == "stm32f405"
    assert all(path.is_file() for path in board.chip.sources)


def test_folder_without_a_board_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no board"):
        add_board_folder(tmp_path)


GOOD = """
description = "d"
chip = "mps2_an386"
target = "cortex_m"
toolchains = ["gcc"]
image = "firmware.elf"
format = "elf"
runners = ["qemu_system"]
"""


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (GOOD + 'colour = "red"', "unknown key 'colour'"),
        (GOOD.replace('image = "firmware.elf"', ""), "'image' is missing"),
        (GOOD.replace('"d"', "3"), "'description' must be of type str"),
        (GOOD + "baud = true", "'baud' must be of type int"),
        (GOOD.replace("mps2_an386", "z80"), "z80.toml"),
        ("= 3", "cannot be read as TOML"),
    ],
)
def test_mistakes_in_a_board_file_are_named(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "board.toml").write_text(text)
    add_board_folder(tmp_path)
    with pytest.raises(UsageError, match=complaint) as caught:
        load_board("mine")
    assert "\n" not in str(caught.value)
