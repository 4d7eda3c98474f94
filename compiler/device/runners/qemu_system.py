"""A whole machine emulated by QEMU; its UART is a TCP connection to us."""

from __future__ import annotations

import functools
import re
import socket
import subprocess
import time

from compiler.device.runners.base import Missing, Runner, missing_program, runner
from compiler.device.streams import CONNECT_SECONDS, Process, SocketStream, Stream
from compiler.errors import BoardError

_ASK_SECONDS = 20
_PACKAGE = "apt-get install qemu-system-arm"


@runner("qemu_system")
class QemuSystemRunner(Runner):
    """Options: ``program``, ``machine``, ``arguments``; ``since`` is the first QEMU that has it."""

    can_flash = can_open = True

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is None

    def missing_tools(self) -> list[Missing]:
        program, machine = self.option("program"), self.option("machine")
        missing = missing_program(program, self.option("package", _PACKAGE))
        if missing or machine in _machines(program):
            return missing
        version = _version(program)
        since = self.option("since", "a newer one")
        remedy = f"QEMU {version} does not have it, QEMU {since} does; or use --port for a real one"
        return [Missing(f"{program} -machine {machine}", remedy)]

    def flash(self) -> str:
        return f"nothing to flash: the emulator of '{self.board.name}' loads '{self.image}' itself"

    def open(self) -> Stream:
        """QEMU connects to a port of ours, so that none has to be guessed free."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            process = Process(
                f"the emulator of '{self.board.name}'", self._command(server), has_pipes=False
            )
            try:
                return SocketStream(process.name, _accept(server, process), process)
            except BaseException:
                process.close()
                raise

    def _command(self, server: socket.socket) -> list[str]:
        port = server.getsockname()[1]
        return [
            self.option("program"),
            *("-machine", self.option("machine")),
            *("-display", "none", "-monitor", "none", "-nic", "none", "-no-user-config"),
            *("-serial", f"tcp:127.0.0.1:{port},server=off"),
            *self.arguments(),
            *("-kernel", str(self.image)),
        ]


def _accept(server: socket.socket, process: Process) -> socket.socket:
    """Wait until the emulator has connected. Raises BoardError where it ended or does not."""
    deadline = time.monotonic() + CONNECT_SECONDS
    server.settimeout(0.05)
    while time.monotonic() < deadline:
        try:
            return server.accept()[0]
        except TimeoutError:
            if process.popen.poll() is not None:
                raise process.gone() from None
    raise BoardError(f"{process.name} did not open its serial port within {CONNECT_SECONDS:.0f} s")


@functools.cache
def _machines(program: str) -> frozenset[str]:
    lines = _ask(program, "-machine", "help").splitlines()
    return frozenset(line.split()[0] for line in lines if line.strip())


@functools.cache
def _version(program: str) -> str:
    found = re.search(r"version (\S+)", _ask(program, "--version"))
    return found[1] if found else "(of unknown version)"


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_ASK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
