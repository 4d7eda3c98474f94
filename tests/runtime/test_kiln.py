"""The C loader: a good blob runs, a bad one is refused with nothing written."""

from __future__ import annotations

import dataclasses
import random
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from compiler.blob import BlobStep, Operand, encode_blob, read_blob, sealed, write_blob
from compiler.errors import ModelError
from tests.support.fake_model import fake_blob

BROKEN = "the blob's structure is broken"


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def blob_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blob") / "fake.blob"
    path.write_bytes(write_blob(fake_blob()))
    return path


@pytest.fixture
def load(c_tests: Path, tmp_path: Path) -> Callable[[Sequence[bytes]], list[str]]:
    """What kiln_load says of each blob."""

    def load_all(blobs: Sequence[bytes]) -> list[str]:
        path = tmp_path / "blobs"
        path.write_bytes(b"".join(struct.pack("<I", len(b)) + b for b in blobs))
        return run(c_tests / "blob_fuzz", "load", str(path)).splitlines()

    return load_all


@pytest.mark.parametrize("case", ["run", "tensors", "not_loaded", "hook", "arguments", "helpers"])
def test_unit(c_tests: Path, blob_file: Path, case: str) -> None:
    run(c_tests / "runtime_test", str(blob_file), case)


def test_without_profile_the_hook_is_never_called(c_tests: Path, blob_file: Path) -> None:
    run(c_tests / "runtime_test_no_profile", str(blob_file), "hook")


@pytest.mark.parametrize("mode", ["flip", "cut"])
def test_every_damaged_byte_and_every_cut_is_refused(
    c_tests: Path, blob_file: Path, mode: str
) -> None:
    run(c_tests / "blob_fuzz", mode, str(blob_file))


def patched(data: bytes, offset: int, layout: str, value: int) -> bytes:
    """``data`` with one field changed and its CRC made right again."""
    changed = bytearray(data)
    struct.pack_into(layout, changed, offset, value)
    return sealed(bytes(changed))


STEPS, TENSORS = 64, 64 + 2 * (4 + 3 * 8)
BAD_FIELDS = {
    "magic": (0, "<I", 0, "not a Kiln blob"),
    "version": (4, "<H", 2, "a blob of another format version"),
    "numerics": (6, "<B", 2, BROKEN),
    "zero": (7, "<B", 1, BROKEN),
    "blob bytes, more": (8, "<I", 0xFFFFFFFF, "the blob is cut"),
    "blob bytes, none": (8, "<I", 0, "the blob is cut"),
    "code hash": (31, "<B", 0, "the blob was made for other kernels"),
    "arena, too large": (32, "<I", 144, "the arena is too small"),
    "arena, too small for the tensors": (32, "<I", 97, BROKEN),
    "arena, over 2^31": (32, "<I", 0x80000000, BROKEN),
    "alignment, not a power of two": (36, "<I", 12, BROKEN),
    "alignment, none": (36, "<I", 0, BROKEN),
    "alignment, odd": (36, "<I", 1, BROKEN),
    "alignment, absurd": (36, "<I", 8192, BROKEN),
    "steps, more": (40, "<I", 3, BROKEN),
    "steps, fewer": (40, "<I", 1, BROKEN),
    "steps, all": (40, "<I", 0xFFFFFFFF, BROKEN),
    "inputs": (44, "<H", 2, BROKEN),
    "states": (48, "<H", 0xFFFF, BROKEN),
    "zero 2": (50, "<H", 1, BROKEN),
    "tensors, at 0": (52, "<I", 0, BROKEN),
    "tensors, beyond": (52, "<I", 0xFFFFFFFC, BROKEN),
    "tensors, odd": (52, "<I", TENSORS + 1, BROKEN),
    "names, below the tensors": (56, "<I", TENSORS - 4, BROKEN),
    "names, beyond": (56, "<I", 0xFFFFFFFF, BROKEN),
    "constants, beyond": (60, "<I", 0xFFFFFFC0, BROKEN),
    "constants, odd": (60, "<I", 385, BROKEN),
    "constants, at 0": (60, "<I", 0, BROKEN),
    "kernel": (STEPS, "<H", 2, BROKEN),
    "operands, 65": (STEPS + 2, "<H", 65, BROKEN),
    "operands, all": (STEPS + 2, "<H", 0xFFFF, BROKEN),
    "operand, arena end": (STEPS + 4, "<I", 113, BROKEN),
    "operand, overflow": (STEPS + 8, "<I", 0xFFFFFFFF, BROKEN),
    "operand, wraps around": (STEPS + 4, "<I", 0x7FFFFFFF, BROKEN),
    "operand, constants end": (STEPS + 12, "<I", 0x80000003, BROKEN),
    "role": (TENSORS, "<B", 1, BROKEN),
    "role, unknown": (TENSORS, "<B", 3, BROKEN),
    "dtype": (TENSORS + 1, "<B", 12, BROKEN),
    "dtype of another size": (TENSORS + 1, "<B", 0, BROKEN),
    "rank": (TENSORS + 2, "<B", 9, BROKEN),
    "rank, too small": (TENSORS + 2, "<B", 1, BROKEN),
    "name, before": (TENSORS + 4, "<I", 0, BROKEN),
    "name, beyond": (TENSORS + 4, "<I", 0xFFFFFFFF, BROKEN),
    "offset": (TENSORS + 8, "<I", 113, BROKEN),
    "offset, misaligned": (TENSORS + 64 + 8, "<I", 30, BROKEN),
    "offset, wraps around": (TENSORS + 8, "<I", 0xFFFFFFF8, BROKEN),
    "bytes": (TENSORS + 12, "<I", 17, BROKEN),
    "initial value of an input": (TENSORS + 16, "<I", 0, BROKEN),
    "initial value, beyond": (TENSORS + 128 + 16, "<I", 17, BROKEN),
    "shape, overflow": (TENSORS + 28, "<I", 0xFFFFFFFF, BROKEN),
    "shape, beyond the rank": (TENSORS + 56, "<I", 1, BROKEN),
    "tensor zero": (TENSORS + 60, "<I", 1, BROKEN),
}


def test_each_bad_field_is_refused_by_both_loaders(
    load: Callable[[Sequence[bytes]], list[str]],
) -> None:
    good = write_blob(fake_blob())
    bad = {name: patched(good, *change[:3]) for name, change in BAD_FIELDS.items()}
    said = dict(zip(bad, load(list(bad.values())), strict=True))
    assert said == {name: change[3] for name, change in BAD_FIELDS.items()}
    for name, data in bad.items():
        if name in ("code hash", "arena, too large", "kernel"):  # need the firmware to be judged
            continue
        with pytest.raises(ModelError):
            read_blob(data)


def test_shape_whose_product_overflows_32_bits(
    load: Callable[[Sequence[bytes]], list[str]],
) -> None:
    blob = fake_blob()
    tensor = dataclasses.replace(blob.tensors[0], shape=(65536, 65536, 16), bytes=0)
    assert load([encode_blob(dataclasses.replace(blob, tensors=(tensor,)))]) == [BROKEN]


def test_most_operands_that_are_possible(load: Callable[[Sequence[bytes]], list[str]]) -> None:
    def with_operands(count: int) -> bytes:
        steps = (BlobStep(0, (Operand("arena", 0, 0),) * count),)
        return encode_blob(dataclasses.replace(fake_blob(), steps=steps))

    assert load([with_operands(64), with_operands(65)]) == ["ok", BROKEN]


def test_both_loaders_agree_on_random_damage(
    load: Callable[[Sequence[bytes]], list[str]],
) -> None:
    """Damage with a right CRC: what one loader accepts, the other accepts."""
    good = write_blob(fake_blob())
    rng = random.Random(1)
    interesting = [0, 1, 2, 4, 16, 63, 64, 96, 128, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    blobs = [good]
    for _ in range(4000):
        size, layout = rng.choice(((1, "<B"), (2, "<H"), (4, "<I")))
        value = rng.choice(interesting) if rng.random() < 0.5 else rng.getrandbits(32)
        offset = rng.randrange(0, len(good) // size) * size
        blobs.append(patched(good, offset, layout, value & (256**size - 1)))
    accepted = 0
    for data, said in zip(blobs, load(blobs), strict=True):
        if said in ("the blob was made for other kernels", "the arena is too small"):
            continue
        try:
            blob = read_blob(data)
        except ModelError:
            assert said != "ok", data.hex()
            continue
        expected = "ok" if all(step.kernel < 2 for step in blob.steps) else BROKEN
        assert said == expected, data.hex()
        accepted += said == "ok"
    assert accepted > 100
