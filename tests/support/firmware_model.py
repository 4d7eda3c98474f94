"""An output folder as `build` leaves it for the C compiler, with the fake model in it."""

from __future__ import annotations

import shutil
from pathlib import Path

from compiler.blob import write_blob
from tests.support.fake_model import fake_blob

KERNELS = Path(__file__).parent.parent / "device" / "firmware_model.c"

_HEADER = """#ifndef KILN_MODEL_H
#define KILN_MODEL_H
#include "kiln.h"
#define KILN_ARENA_BYTES {arena_bytes}
#define KILN_ARENA_ALIGNMENT 16
#define KILN_BLOB_BYTES {blob_bytes}
#define KILN_INPUT_0_BYTES 16
extern const kiln_code kiln_model_code;
extern const uint8_t kiln_model_blob[];
extern const uint32_t kiln_model_blob_bytes;
#endif
"""


def write_model(folder: Path, arena_bytes: int = 128) -> Path:
    """``model.blob``, ``model_kernels.c`` and ``kiln_model.h`` in ``folder``, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    blob = write_blob(fake_blob())
    header = _HEADER.format(arena_bytes=arena_bytes, blob_bytes=len(blob))
    (folder / "model.blob").write_bytes(blob)
    (folder / "kiln_model.h").write_text(header)
    shutil.copyfile(KERNELS, folder / "model_kernels.c")
    return folder
