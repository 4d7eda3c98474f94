"""Images: the whole runtime on every board, reproducible, and what does not fit or compile."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from compiler.board import Board, board_names, load_board
from compiler.device import cmake
from compiler.device.client import Client
from compiler.device.firmware import build_image
from compiler.device.fit import check_fit
from compiler.device.runners import open_stream, select_runner
from compiler.device.toolchains import toolchain_names
from compiler.errors import FitError, ToolError, UsageError
from compiler.paths import ROOT
from compiler.target import target_chain
from tests.support.firmware_model import write_model


def cflags(board: Board) -> tuple[str, ...]:
    return tuple(flag for target in target_chain(board.target) for flag in target.cflags)


@pytest.fixture(params=board_names())
def board(request: pytest.FixtureRequest) -> Board:
    return load_board(request.param)


def run_once(client: Client, values: np.ndarray) -> list[int]:
    client.write_input(0, values.astype(np.int8).tobytes())
    client.run()
    return np.frombuffer(client.read_output(0), np.int32).tolist()


def test_model_runs_on_every_board_that_runs_here(board: Board, tmp_path: Path) -> None:
    image = build_image(board, write_model(tmp_path), None, cflags(board))
    assert image.path.parent == tmp_path and image.path.name == board.image
    assert image.flash_bytes["blob"] >= (tmp_path / "model.blob").stat().st_size
    parts = ("text", "rodata", "blob", "data")
    assert image.flash_bytes["total"] == sum(image.flash_bytes[part] for part in parts)
    try:
        select_runner(board, "open", image.path)
    except UsageError:
        return  # there is nothing to run it on without --port
    except ToolError as error:
        pytest.skip(f"built, not run: {error}")
    with open_stream(board, image.path) as stream:
        client = Client(stream)
        assert client.hello().board == board.name
        values = np.arange(16)
        for state in (100, 101):
            assert run_once(client, values) == (4 * values + state).tolist()


@pytest.fixture
def inside() -> Iterator[Path]:
    """A folder within the checkout, as `build` uses by default."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        yield Path(name)


@pytest.mark.parametrize("toolchain", toolchain_names())
@pytest.mark.parametrize("name", ["mps2-an386", "host"])
def test_two_folders_give_the_same_bytes(
    name: str, toolchain: str, tmp_path: Path, inside: Path
) -> None:
    board = load_board(name)
    try:
        images = [
            build_image(board, write_model(folder), toolchain, cflags(board))
            for folder in (tmp_path / "some/where else", inside)
        ]
    except ToolError as error:
        if "missing" not in str(error):
            raise
        pytest.skip(str(error))
    assert images[0].path.read_bytes() == images[1].path.read_bytes()
    for place in (tmp_path, inside, ROOT):
        assert str(place).encode() not in images[0].elf.read_bytes()


def test_arena_over_the_ram_is_refused_before_compiling(tmp_path: Path) -> None:
    board = load_board("nucleo-f446re")
    arena = 0x20000 - board.chip.stack_bytes + 1000
    write_model(tmp_path, arena)
    with pytest.raises(FitError, match=r"ram: needs 132,072 bytes, has 131,072, 1,000 too many"):
        build_image(board, tmp_path)
    assert not (tmp_path / "firmware").exists()


def test_overflow_found_by_the_linker_says_by_how_much(tmp_path: Path) -> None:
    board = load_board("nucleo-f446re")
    room = 0x20000 - board.chip.stack_bytes
    write_model(tmp_path, room)
    with pytest.raises(FitError, match=r"ram: needs 13\d,\d{3} bytes, has 131,072, [\d,]+ too"):
        build_image(board, tmp_path)
    assert not (tmp_path / board.image).exists()


def test_blob_and_arena_share_a_single_region() -> None:
    board = load_board("rpi4-baremetal")
    ram = board.chip.regions[0].bytes
    check_fit(board, ram // 2, ram // 2 - board.chip.stack_bytes)
    with pytest.raises(FitError, match=r"1 too many"):
        check_fit(board, ram // 2, ram // 2 - board.chip.stack_bytes + 1)


def test_linux_boards_have_no_limit() -> None:
    check_fit(load_board("host"), 1 << 40, 1 << 40)


def test_compiler_error_is_one_line_with_the_log_beside_it(tmp_path: Path) -> None:
    write_model(tmp_path)
    with (tmp_path / "model_kernels.c").open("a") as file:
        file.write("\nint broken(void) { return nonsense; }\n")
    with pytest.raises(ToolError, match=r"model_kernels\.c:\d+:.*nonsense.*build\.log") as caught:
        build_image(load_board("mps2-an386"), tmp_path)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "firmware.elf").exists()


def test_missing_source_is_named(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    broken = dataclasses.replace(board, sources=(tmp_path / "gone.c",))
    with pytest.raises(UsageError, match=r"gone\.c' is missing"):
        build_image(broken, write_model(tmp_path))


def test_missing_ninja_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shutil.which
    monkeypatch.setattr(
        cmake.shutil,
        "which",
        lambda name, **options: None if name == "ninja" else found(name, **options),
    )
    with pytest.raises(ToolError, match="'ninja' is missing; `pip install ninja`"):
        build_image(load_board("mps2-an386"), write_model(tmp_path))


def test_size_build_is_not_larger(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    speed = build_image(board, write_model(tmp_path / "speed"))
    size = build_image(board, write_model(tmp_path / "size"), optimize="size")
    assert size.flash_bytes["text"] < speed.flash_bytes["text"]
