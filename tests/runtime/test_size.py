"""What the runtime costs in flash, on a Cortex-M4."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler.paths import RUNTIME

FLAGS = (
    *("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"),
    *("-Os", "-mcpu=cortex-m4", "-mthumb", "-ffreestanding", f"-I{RUNTIME}"),
)


@pytest.mark.parametrize(
    ("sources", "limit"),
    [(("kiln", "validate", "crc32"), 1536), (("serve", "frame", "watermark"), 2560)],
)
def test_text_bytes(tmp_path: Path, sources: tuple[str, ...], limit: int) -> None:
    compiler = shutil.which("arm-none-eabi-gcc")
    if compiler is None:
        pytest.skip("no arm-none-eabi-gcc")
    total = 0
    for name in sources:
        made = tmp_path / f"{name}.o"
        subprocess.run([compiler, *FLAGS, "-c", RUNTIME / f"{name}.c", "-o", made], check=True)
        size = subprocess.run(
            ["arm-none-eabi-size", made], check=True, capture_output=True, text=True
        )
        total += int(size.stdout.split("\n")[1].split()[0])
    assert total <= limit
