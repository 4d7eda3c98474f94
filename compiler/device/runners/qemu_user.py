"""A Linux program of another processor: directly where this machine has it, else under QEMU."""

from __future__ import annotations

import platform

from compiler.device.runners.base import Missing, Runner, missing_program, runner
from compiler.device.runners.counting import make_counter
from compiler.device.streams import ProcessStream, Stream


@runner("qemu_user")
class QemuUserRunner(Runner):
    """Options: ``program``, ``arguments``; ``machines`` whose Linux needs no emulator."""

    can_flash = can_open = True

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is None

    def missing_tools(self) -> list[Missing]:
        if self._is_native():
            return []
        return missing_program(self.option("program"), "apt-get install qemu-user")

    def flash(self) -> str:
        return f"nothing to flash: the emulator of '{self.board.name}' loads '{self.image}' itself"

    def open(self) -> Stream:
        """On an emulator the board's clock counts instructions where that is possible."""
        name, program = f"'{self.image}'", self.image.resolve()
        if self._is_native():
            return ProcessStream(name, [str(program)])
        command = [self.option("program"), *self.arguments()]
        counter = make_counter(self.option("program"), program)
        if counter is None:
            return ProcessStream(name, [*command, str(program)])
        command += [*counter.arguments, str(program)]
        return ProcessStream(name, command, counter.environment, counter.folder)

    def _is_native(self) -> bool:
        return platform.machine() in self.arguments("machines")
