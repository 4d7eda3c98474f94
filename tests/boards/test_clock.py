"""Emulated boards count instructions: the same number in every run and in every session."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compiler.board import load_board
from compiler.device.client import Client
from compiler.device.firmware import build_image
from compiler.device.runners import open_stream, select_runner
from compiler.device.runners.counting import make_counter
from compiler.errors import ToolError
from compiler.target import target_chain
from tests.support.firmware_model import write_model


@pytest.mark.parametrize("name", ["mps2-an386", "mps2-an500", "rpi3-baremetal", "rpi4"])
def test_two_sessions_count_the_same(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    cflags = [flag for target in target_chain(board.target) for flag in target.cflags]
    try:
        image = build_image(board, write_model(tmp_path), None, cflags)
        select_runner(board, "open", image.path)
    except ToolError as error:
        pytest.skip(str(error))
    if name == "rpi4" and make_counter("qemu-aarch64", image.path) is None:
        pytest.skip("this QEMU takes no plugins, or there is no C compiler for this machine")
    rows = []
    for _ in range(2):
        with open_stream(board, image.path) as stream:
            client = Client(stream)
            assert client.hello().unit == "instructions"
            client.write_input(0, bytes(range(16)))
            measured = client.profile(4)
            rows += [*np.column_stack([measured.ticks, measured.totals])]
    assert (np.array(rows) == rows[0]).all(), rows
    steps, total = rows[0][:2], rows[0][2]
    assert (steps > 50).all() and steps.sum() < total < 2000
