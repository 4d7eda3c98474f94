"""A board that already runs, at a serial port or a TCP socket."""

from __future__ import annotations

from compiler.device.runners.base import Runner, runner
from compiler.device.streams import SerialStream, Stream, connect_socket


@runner("serial")
class SerialRunner(Runner):
    """No options; the board's ``baud`` counts."""

    can_open = True
    port_help = "a serial port (/dev/ttyUSB0, socket://host:port)"

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is not None and not port.startswith("ssh://")

    def open(self) -> Stream:
        assert self.port is not None
        if self.port.startswith("socket://"):
            return connect_socket(self.port)
        return SerialStream(self.port, self.board.baud)
