"""A board from outside the tree, through the command line: listed, built, run."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import compiler.board as boards
from compiler.cli.main import run

PLUGIN = str(Path(__file__).parent / "plugin")


@pytest.fixture(autouse=True)
def folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "_folders", list(boards._folders))


def test_listed_only_with_the_plugin(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["boards", "--json"]) == 0
    assert "netduinoplus2" not in capsys.readouterr().out
    assert run(["boards", "--json", "--plugin", PLUGIN]) == 0
    assert "netduinoplus2" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="needs arm-none-eabi-gcc")
@pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm")
def test_built_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = ["--board", "netduinoplus2", "--out", str(tmp_path / "out"), "--plugin", PLUGIN]
    assert run(["build", *board]) == 0
    monkeypatch.setattr(boards, "_folders", boards._folders[:1])
    output = tmp_path / "y.npz"
    assert run(["run", *board, "--output", str(output)]) == 0
    with np.load(output) as arrays:
        assert len(arrays.files) >= 1


def test_folder_without_boards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["boards", "--plugin", str(tmp_path)]) == 2
    assert "holds no board" in capsys.readouterr().err
