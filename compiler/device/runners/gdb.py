"""Any gdb server (an emulator's, a probe's): loads the ELF file and compares what arrived."""

from __future__ import annotations

import re
import shutil

from compiler.device.runners.base import Missing, Runner, missing_program, run_tool, runner
from compiler.errors import BoardError, UsageError

_PROGRAMS = ("gdb-multiarch", "arm-none-eabi-gdb", "gdb")


@runner("gdb")
class GdbRunner(Runner):
    """Option: ``reset``, the server's own command that restarts the board.

    ``--port gdb://host:port`` names the server.
    """

    can_flash = True
    port_help = "gdb://host:port"

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is not None and port.startswith("gdb://")

    def missing_tools(self) -> list[Missing]:
        if any(map(shutil.which, _PROGRAMS)):
            return []
        return missing_program(_PROGRAMS[0], "apt-get install gdb-multiarch")

    def flash(self) -> str:
        """Raises BoardError where a section that was loaded reads back otherwise."""
        output = self._run("load", "compare-sections", self._reset(), "detach")
        matched = re.findall(r"^Section (\S+), .*: matched\.", output, re.MULTILINE)
        if not matched or "MIS-MATCHED" in output:
            raise BoardError(
                f"port '{self.port}': '{self.image}' did not arrive as it is; is it the right chip?"
            )
        return f"loaded '{self.image}' through {self.port}: {len(matched)} sections compared equal"

    def reset(self) -> None:
        self._run(self._reset(), "detach")

    def _reset(self) -> str:
        return f"monitor {self.option('reset', 'reset')}"

    def _run(self, *commands: str) -> str:
        address = (self.port or "").removeprefix("gdb://").rstrip("/")
        if not re.fullmatch(r"[^:\s]+:\d+", address):
            raise UsageError(f"--port '{self.port}': write it as gdb://host:port")
        program = next(filter(shutil.which, _PROGRAMS))
        steps = ("set tcp connect-timeout 10", f"target remote {address}", *commands)
        arguments = [part for step in steps for part in ("-ex", step)]
        return run_tool([program, "-nx", "-batch", *arguments, str(self.image)])
