"""A board in its USB boot loader: a drive with INFO_UF2.TXT onto which the image is copied."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from compiler.device.runners.base import Runner, runner
from compiler.device.runners.sdcard import is_folder_name
from compiler.errors import BoardError, ToolError, UsageError

_MARK = "INFO_UF2.TXT"
#: Where systems mount drives by themselves.
_MOUNTS = ("/media/*/*", "/run/media/*/*", "/media/*", "/mnt/*", "/Volumes/*")


@runner("uf2")
class Uf2Runner(Runner):
    """No options. Without ``--port`` the drive is looked for where systems mount drives."""

    can_flash = True
    port_help = "the folder where the boot loader's drive is mounted"

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is None or is_folder_name(port)

    def flash(self) -> str:
        """The drive takes the file as it comes and then vanishes: no rename is possible."""
        folder = self._drive()
        path = folder / self.image.name
        try:
            with path.open("wb") as file:
                file.write(self.image.read_bytes())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ToolError(
                f"'{path}': writing failed: {error.strerror}; plug the board in again"
            ) from None
        return f"copied {self.image.name} to '{folder}'; the board restarts by itself"

    def _drive(self) -> Path:
        if self.port is not None:
            folder = Path(self.port)
            if not folder.is_dir():
                raise UsageError(f"--port '{folder}': no such folder; {self._remedy()}")
            if not (folder / _MARK).is_file():
                raise UsageError(f"--port '{folder}': has no {_MARK}; {self._remedy()}")
            return folder
        found = sorted({mark.parent for mark in _marks()})
        if len(found) > 1:
            names = ", ".join(map(str, found))
            raise UsageError(f"several boards are in their boot loader ({names}); choose by --port")
        if not found:
            raise BoardError(f"board '{self.board.name}': its drive is not here; {self._remedy()}")
        return found[0]

    def _remedy(self) -> str:
        return "hold BOOTSEL while plugging the board in, mount its drive, and name it by --port"


def _marks() -> Iterator[Path]:
    for pattern in _MOUNTS:
        yield from Path("/").glob(f"{pattern[1:]}/{_MARK}")
