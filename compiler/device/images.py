"""ELF files read and rewritten: sizes by section, raw binaries, checksums of boot stages, UF2."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from compiler import files
from compiler.board import Board, Checksum, Region
from compiler.errors import ToolError, UsageError

FlashBytes = dict[str, int]

_BLOB_SECTION = ".kiln_blob"


def flash_bytes(elf: Path) -> FlashBytes:
    """Bytes of the image by use: text, rodata, blob, data (its initial values), total."""
    sizes = {"text": 0, "rodata": 0, "blob": 0, "data": 0}
    with elf.open("rb") as file:
        for section in _open(file, elf).iter_sections():
            flags = section["sh_flags"]
            if not flags & SH_FLAGS.SHF_ALLOC or section["sh_type"] == "SHT_NOBITS":
                continue
            if section.name == _BLOB_SECTION:
                use = "blob"
            elif flags & SH_FLAGS.SHF_EXECINSTR:
                use = "text"
            else:
                use = "data" if flags & SH_FLAGS.SHF_WRITE else "rodata"
            sizes[use] += section["sh_size"]
    return sizes | {"total": sum(sizes.values())}


def region_bytes(elf: Path, regions: Sequence[Region]) -> dict[str, int]:
    """Bytes of each region up to the end of the last thing in it."""
    used = {region.name: 0 for region in regions}
    with elf.open("rb") as file:
        image = _open(file, elf)
        spans = [
            (section["sh_addr"], section["sh_size"])
            for section in image.iter_sections()
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC
        ]
        spans += [
            (segment["p_paddr"], segment["p_filesz"])
            for segment in image.iter_segments()
            if segment["p_type"] == "PT_LOAD"
        ]
    for address, size in spans:
        for region in regions:
            if size and region.origin <= address < region.origin + region.bytes:
                used[region.name] = max(used[region.name], address + size - region.origin)
    return used


def load_bytes(elf: Path) -> tuple[int, bytes]:
    """The lowest load address, and all that is loaded from there; gaps are 0."""
    with elf.open("rb") as file:
        parts = [
            (segment["p_paddr"], segment.data())
            for segment in _open(file, elf).iter_segments()
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
        ]
    if not parts:
        raise ToolError(f"'{elf}': nothing in it is loaded; build it again")
    start = min(address for address, _ in parts)
    image = bytearray(max(address + len(data) for address, data in parts) - start)
    for address, data in parts:
        image[address - start : address - start + len(data)] = data
    return start, bytes(image)


def crc32_mpeg2(data: bytes) -> int:
    """Polynomial 0x04C11DB7, most significant bit first, start 0xFFFFFFFF, not inverted."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return crc


_CHECKSUMS = {"crc32_mpeg2": crc32_mpeg2}


def seal(elf: Path, checksum: Checksum) -> None:
    """Write the checksum of a section into its last 4 bytes, little endian."""
    if checksum.kind not in _CHECKSUMS:
        raise UsageError(
            f"checksum kind '{checksum.kind}' is unknown; choose one of {', '.join(_CHECKSUMS)}"
        )
    with elf.open("r+b") as file:
        section = _open(file, elf).get_section_by_name(checksum.section)
        if section is None:
            raise ToolError(f"'{elf}': has no section '{checksum.section}'; build it again")
        value = _CHECKSUMS[checksum.kind](section.data()[:-4])
        file.seek(section["sh_offset"] + section["sh_size"] - 4)
        file.write(struct.pack("<I", value))


def write_image(board: Board, elf: Path, out: Path) -> Path:
    """Put the image (and the files that go with it) into ``out``, each whole or not at all."""
    if board.chip.checksum is not None:
        seal(elf, board.chip.checksum)
    for file in board.files:
        files.write_bytes(out / file.name, file.read_bytes())
    path = out / board.image
    if board.format in ("elf", "executable"):
        mode = 0o755 if board.format == "executable" else 0o644
        files.write_bytes(path, elf.read_bytes(), mode)
    elif board.format == "bin":
        files.write_bytes(path, load_bytes(elf)[1])
    elif board.format == "uf2":
        family = board.defines.get("UF2_FAMILY", board.chip.defines.get("UF2_FAMILY", 0))
        files.write_bytes(path, uf2(*load_bytes(elf), int(family)))
    else:
        raise UsageError(
            f"board '{board.name}': unknown image format '{board.format}'; "
            "choose executable, elf, bin or uf2"
        )
    return path


_UF2_PAYLOAD = 256
_UF2_BLOCK = struct.Struct("<8I476sI")
_UF2_START, _UF2_SECOND, _UF2_END = 0x0A324655, 0x9E5D5157, 0x0AB16F30
_UF2_HAS_FAMILY = 0x2000


def uf2(address: int, data: bytes, family: int) -> bytes:
    """UF2 blocks (github.com/microsoft/uf2) that write ``data`` from ``address`` on."""
    count = -(-len(data) // _UF2_PAYLOAD)
    blocks = []
    for index in range(count):
        payload = data[index * _UF2_PAYLOAD : (index + 1) * _UF2_PAYLOAD]
        header = (_UF2_START, _UF2_SECOND, _UF2_HAS_FAMILY, address + index * _UF2_PAYLOAD)
        numbers = (_UF2_PAYLOAD, index, count, family)
        blocks.append(_UF2_BLOCK.pack(*header, *numbers, payload, _UF2_END))
    return b"".join(blocks)


def copy_file(source: Path, path: Path) -> None:
    """Copy onto a medium that may be pulled out, and may know no permissions: whole or not."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        shutil.copyfile(source, temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise ToolError(f"cannot write '{path}': {error.strerror}; make room or rights") from None
    finally:
        temporary.unlink(missing_ok=True)


def _open(file: IO[bytes], path: Path) -> ELFFile:
    try:
        return ELFFile(file)
    except ELFError as error:
        raise ToolError(f"'{path}': not an ELF file ({error}); build it again") from None
