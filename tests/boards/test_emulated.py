"""The ports of emulated boards: data and bss, echo, exact clock, stack, fault report, reset."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

import compiler.board as boards
from compiler.board import Board, board_names, load_board
from compiler.device.runners import open_stream, select_runner
from compiler.device.streams import Stream
from compiler.errors import ToolError
from tests.boards.firmware import FAULT_AT, ask, build_echo, read_exactly, read_line

PLUGIN = Path(__file__).parent / "plugin"
EMULATED = [
    name
    for name, board in ((name, load_board(name)) for name in board_names())
    if board.is_emulated and board.chip.startup is not None
]
INSTRUCTIONS = 1


@pytest.fixture(params=[*EMULATED, "netduinoplus2"])
def board(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    monkeypatch.setattr(boards, "_folders", [*boards._folders, PLUGIN])
    found = load_board(request.param)
    try:
        select_runner(found, "open", tmp_path)
    except ToolError as error:
        pytest.skip(str(error))
    return found


@pytest.fixture(scope="session")
def built() -> dict[str, Path]:
    """Images by board, each built once."""
    return {}


@pytest.fixture
def image(board: Board, built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    if board.name not in built:
        built[board.name] = build_echo(board, tmp_path_factory.mktemp(board.name)).path
    return built[board.name]


@pytest.fixture
def stream(board: Board, image: Path) -> Iterator[Stream]:
    with open_stream(board, image) as opened:
        assert read_line(opened) == "hello"
        yield opened


def test_data_is_initialised_and_bss_is_clear_also_after_reset(stream: Stream) -> None:
    assert ask(stream, "d") == [0x600DDA7A, 0]
    assert ask(stream, "d") == [0x600DDA7B, 1]
    stream.write(b"r")
    assert read_line(stream) == "hello"
    assert ask(stream, "d") == [0x600DDA7A, 0]


def test_every_byte_value_comes_back_in_order(stream: Stream) -> None:
    sent = bytes(range(256)) * 8
    stream.write(b"e" + struct.pack("<I", len(sent)) + sent)
    assert read_exactly(stream, len(sent)) == sent


def test_bytes_sent_while_it_starts_do_not_hold_up_later_ones(board: Board, image: Path) -> None:
    for _ in range(3):
        with open_stream(board, image) as stream:
            stream.write(b"?")
            assert read_line(stream) == "hello"
            stream.write(b"?")
            assert read_line(stream, 3) == "?"


def test_clock_counts_instructions_exactly(board: Board, stream: Stream) -> None:
    if any(path.name == "dwt.c" for path in board.chip.sources):
        pytest.skip("QEMU has no DWT cycle counter")
    short = [ask(stream, "c", 1000) for _ in range(3)]
    long = [ask(stream, "c", 3000) for _ in range(2)]
    assert short[0][0] == INSTRUCTIONS
    assert short[0] == short[1] == short[2]
    assert long[0] == long[1]
    per_turn = (long[0][1] - short[0][1]) / 2000
    assert per_turn == round(per_turn) and 2 <= per_turn <= 6


def test_stack_use_is_measured(stream: Stream) -> None:
    shallow = ask(stream, "s", 0)[1]
    deep = ask(stream, "s", 8)[1]
    assert 256 < shallow < 1024
    assert 8 * 256 <= deep - shallow < 8 * 400
    assert ask(stream, "s", 0)[1] == deep


def test_fault_is_reported_again_to_whoever_comes_later(stream: Stream) -> None:
    stream.write(b"f" + struct.pack("<I", 1))
    for _ in range(2):
        assert read_line(stream) == ""
        report = read_line(stream)
        address = re.fullmatch(r"kiln fault: .* address=0x0*([0-9a-f]+)( .*)?", report)
        assert address is not None and int(address[1], 16) == FAULT_AT
        stream.write(b"?")


def test_emulator_is_gone_after_an_exception(board: Board, image: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_stream(board, image) as opened:
        process = opened._process.popen  # type: ignore[attr-defined]
        assert process.poll() is None
        raise ZeroDivisionError
    assert process.poll() is not None
