"""Images as bytes: vector tables, the RP2040's boot stage, UF2 blocks, the Pi's kernel."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from compiler.board import board_names, load_board
from compiler.device.images import crc32_mpeg2, load_bytes, uf2
from tests.boards.firmware import build_echo

CORTEX_M = [name for name in board_names() if load_board(name).chip.startup == "cortex_m"]


def symbols(elf: Path) -> dict[str, int]:
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}


def sections(elf: Path) -> dict[str, tuple[int, bytes]]:
    with elf.open("rb") as file:
        return {
            section.name: (section["sh_addr"], section.data())
            for section in ELFFile(file).iter_sections()
        }


@pytest.mark.parametrize("name", CORTEX_M)
def test_vector_table_is_where_the_core_looks(name: str, tmp_path: Path) -> None:
    board = load_board(name)
    elf = build_echo(board, tmp_path).elf
    address, data = sections(elf)[".vectors"]
    boot_bytes = 256 if board.chip.checksum else 0
    flash, ram = board.chip.region("flash"), board.chip.region("ram")
    assert flash is not None and ram is not None
    assert address == flash.origin + boot_bytes and address % 128 == 0
    vectors = struct.unpack("<16I", data)
    known = symbols(elf)
    assert vectors[0] == known["__stack_top"] and vectors[0] % 8 == 0
    assert ram.origin < vectors[0] <= ram.origin + ram.bytes
    assert vectors[1] == known["_start"]
    for handler in vectors[1:]:
        assert handler % 2 == 1, "a handler's address must have the Thumb bit"
        assert flash.origin <= handler < flash.origin + flash.bytes
    assert known["__stack_limit"] == ram.origin, "an overflow must leave RAM, and so fault"


def test_stm32_image_starts_at_its_flash(tmp_path: Path) -> None:
    board = load_board("nucleo-f446re")
    image = build_echo(board, tmp_path)
    address, data = load_bytes(image.path)
    assert address == 0x08000000
    assert len(data) == image.region_bytes["flash"] <= 0x80000


def test_rp2040_boot_stage_has_the_crc_that_its_rom_checks(tmp_path: Path) -> None:
    elf = build_echo(load_board("rpi-pico"), tmp_path).elf
    address, stage = sections(elf)[".boot2"]
    assert address == 0x10000000 and len(stage) == 256
    assert struct.unpack("<I", stage[252:])[0] == crc32_mpeg2(stage[:252])
    constants = struct.unpack("<63I", stage[:252])
    assert 0x18000000 in constants and 0x10000100 in constants


def test_crc_of_the_standard_check_string() -> None:
    assert crc32_mpeg2(b"123456789") == 0x0376E6E7


def test_pico_image_parses_back_to_what_the_elf_loads(tmp_path: Path) -> None:
    image = build_echo(load_board("rpi-pico"), tmp_path)
    address, data = load_bytes(image.elf)
    blocks = image.path.read_bytes()
    assert len(blocks) % 512 == 0
    count = len(blocks) // 512
    loaded = b""
    for index in range(count):
        block = blocks[index * 512 : (index + 1) * 512]
        words = struct.unpack("<8I", block[:32])
        assert words[:3] == (0x0A324655, 0x9E5D5157, 0x00002000)
        assert words[3] == 0x10000000 + 256 * index, "the boot ROM wants whole aligned pages"
        assert words[4:] == (256, index, count, 0xE48BFF56)
        assert struct.unpack("<I", block[508:])[0] == 0x0AB16F30
        assert block[288:508] == bytes(220)
        loaded += block[32:288]
    assert address == 0x10000000
    assert loaded == data + bytes(len(loaded) - len(data))


@pytest.mark.parametrize(("size", "blocks"), [(1, 1), (256, 1), (257, 2)])
def test_uf2_rounds_up_to_whole_blocks(size: int, blocks: int) -> None:
    assert len(uf2(0, b"x" * size, 1)) == 512 * blocks


@pytest.mark.parametrize("name", ["rpi3-baremetal", "rpi4-baremetal"])
def test_raspberry_pi_kernel_starts_with_its_entry(name: str, tmp_path: Path) -> None:
    image = build_echo(load_board(name), tmp_path)
    known = symbols(image.elf)
    address, data = load_bytes(image.elf)
    assert address == known["_start"] == 0x80000
    assert image.path.read_bytes() == data
    assert known["vectors"] % 2048 == 0
    config = (tmp_path / "config.txt").read_text()
    assert "arm_64bit=1" in config and "kernel=kernel8.img" in config
