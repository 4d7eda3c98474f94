"""This machine: the image is a program, its console its standard input and output."""

from __future__ import annotations

from compiler.device.runners.base import Runner, runner
from compiler.device.streams import ProcessStream, Stream


@runner("host")
class HostRunner(Runner):
    """No options."""

    can_flash = can_open = True

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is None

    def flash(self) -> str:
        return f"nothing to flash: board '{self.board.name}' starts '{self.image}' by itself"

    def open(self) -> Stream:
        return ProcessStream(f"'{self.image}'", [str(self.image.resolve())])
