"""The memory functions for boards without a libc, and the high-water mark."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import pytest

SIZE = 64


@pytest.fixture(scope="session")
def library(c_tests: Path) -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(c_tests / "libmemory_shim.so"))
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    for name, arguments, result in (
        ("kiln_memcpy", [pointer, pointer, size], pointer),
        ("kiln_memmove", [pointer, pointer, size], pointer),
        ("kiln_memset", [pointer, ctypes.c_int, size], pointer),
        ("kiln_memcmp", [pointer, pointer, size], ctypes.c_int),
        ("kiln_watermark_fill", [pointer, size], None),
        ("kiln_watermark_from_start", [pointer, size], size),
        ("kiln_watermark_to_end", [pointer, size], size),
    ):
        getattr(loaded, name).argtypes = arguments
        getattr(loaded, name).restype = result
    return loaded


def random_buffer(rng: random.Random) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(rng.randbytes(SIZE), SIZE)


def test_copies_at_every_offset_and_overlap(library: ctypes.CDLL) -> None:
    rng = random.Random(0)
    for source in range(20):
        for target in range(20):
            for count in (0, 1, 3, 7, 8, 9, 16, 31, 40):
                buffer = random_buffer(rng)
                want = bytearray(buffer.raw)
                want[target : target + count] = buffer.raw[source : source + count]
                base = ctypes.addressof(buffer)
                overlaps = abs(source - target) < count and source != target
                for name in ("kiln_memmove",) if overlaps else ("kiln_memmove", "kiln_memcpy"):
                    got = ctypes.create_string_buffer(buffer.raw, SIZE)
                    base = ctypes.addressof(got)
                    returned = getattr(library, name)(base + target, base + source, count)
                    assert got.raw == bytes(want), (name, source, target, count)
                    assert returned == base + target


def test_set_at_every_offset(library: ctypes.CDLL) -> None:
    rng = random.Random(1)
    for target in range(16):
        for count in range(40):
            buffer = random_buffer(rng)
            want = bytearray(buffer.raw)
            want[target : target + count] = b"\x9c" * count
            library.kiln_memset(ctypes.addressof(buffer) + target, 0x19C, count)
            assert buffer.raw == bytes(want), (target, count)


def test_compare_is_unsigned(library: ctypes.CDLL) -> None:
    assert library.kiln_memcmp(b"ab\x80", b"ab\x7f", 3) > 0
    assert library.kiln_memcmp(b"ab\x7f", b"ab\x80", 3) < 0
    assert library.kiln_memcmp(b"ab\x7f", b"ab\x80", 2) == 0


@pytest.mark.parametrize("written", [0, 1, 15, 16, 17, 1000, 4096])
def test_watermark_of_an_arena(library: ctypes.CDLL, written: int) -> None:
    memory = ctypes.create_string_buffer(4096)
    library.kiln_watermark_fill(memory, 4096)
    ctypes.memset(memory, 0, written)
    assert library.kiln_watermark_from_start(memory, 4096) == (written + 15) // 16 * 16


def test_watermark_is_never_more_than_there_is(library: ctypes.CDLL) -> None:
    memory = ctypes.create_string_buffer(100)
    library.kiln_watermark_fill(memory, 98)
    memory[97] = b"\0"
    assert library.kiln_watermark_from_start(memory, 98) == 98


@pytest.mark.parametrize("free", [0, 1, 100, 4096])
def test_watermark_of_a_stack(library: ctypes.CDLL, free: int) -> None:
    memory = ctypes.create_string_buffer(4096)
    library.kiln_watermark_fill(memory, 4096)
    ctypes.memset(ctypes.addressof(memory) + free, 0, 4096 - free)
    assert library.kiln_watermark_to_end(memory, 4096) == 4096 - free
