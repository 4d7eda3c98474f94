"""The blob of the two-kernel model in ``tests/runtime/fake_model.c``."""

from __future__ import annotations

import sys
from pathlib import Path

from compiler.blob import Blob, BlobStep, BlobTensor, Operand, write_blob

ELEMENTS = 16


def fake_blob() -> Blob:
    """Arena: input 0-15, middle 16-31, output 32-95, state 96-97, unused up to 128."""
    table = bytes(3 * i for i in range(ELEMENTS))
    state = (100).to_bytes(2, "little")
    return Blob(
        code_hash=bytes(range(16)),
        numerics="tflite",
        arena_bytes=128,
        arena_alignment=16,
        steps=(
            BlobStep(
                0,
                (Operand("arena", 0, 16), Operand("constant", 0, 16), Operand("arena", 16, 16)),
            ),
            BlobStep(
                1, (Operand("arena", 16, 16), Operand("arena", 96, 2), Operand("arena", 32, 64))
            ),
        ),
        tensors=(
            BlobTensor("input", "int8", (1, 16), 0.5, -3, "input", 0, 16),
            BlobTensor("output", "int32", (1, 16), 0.0, 0, "output", 32, 64),
            BlobTensor("state", "int16", (1,), 0.0, 0, "state", 96, 2, initial=16),
        ),
        constants=table + state,
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(write_blob(fake_blob()))
