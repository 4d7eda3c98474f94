"""An SD card that is mounted here: the image and the files beside it are copied onto it."""

from __future__ import annotations

from pathlib import Path

from compiler.device.images import copy_file
from compiler.device.runners.base import Runner, runner
from compiler.errors import UsageError


@runner("sdcard")
class SdCardRunner(Runner):
    """Options: ``firmware``, names of the maker's own boot files of which the card needs one."""

    can_flash = True
    port_help = "the folder where the SD card is mounted (/media/boot)"

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return is_folder_name(port)

    def flash(self) -> str:
        folder = Path(self.port or "")
        if not folder.is_dir():
            raise UsageError(f"--port '{folder}': no such folder; mount the SD card and name it")
        files = [self.image, *(self.image.parent / file.name for file in self.board.files)]
        for file in files:
            copy_file(file, folder / file.name)
        copied = f"copied {', '.join(file.name for file in files)} to '{folder}'"
        needed = self.arguments("firmware")
        if needed and not any((folder / name).is_file() for name in needed):
            copied += f"; it also needs the Raspberry Pi's own {' or '.join(needed)} to start"
        return copied


def is_folder_name(port: str | None) -> bool:
    return port is not None and "://" not in port and not port.startswith("/dev/")
