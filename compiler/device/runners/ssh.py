"""A Linux board over ssh: the image is copied there and started, its console is the connection."""

from __future__ import annotations

import shlex
from urllib.parse import urlsplit

from compiler.device.runners.base import Missing, Runner, missing_program, run_tool, runner
from compiler.device.streams import ProcessStream, Stream
from compiler.errors import UsageError

#: On the board, in the user's home.
_FOLDER = ".cache/kiln"


@runner("ssh")
class SshRunner(Runner):
    """Options: ``arguments`` for the ssh program, besides those of the user's ssh_config."""

    can_flash = can_open = True
    port_help = "ssh://user@host"

    @classmethod
    def accepts(cls, port: str | None) -> bool:
        return port is not None and port.startswith("ssh://")

    def missing_tools(self) -> list[Missing]:
        return missing_program("ssh", "apt-get install openssh-client")

    def flash(self) -> str:
        """A new file is renamed into place, so a running program is not disturbed."""
        path = self._path()
        script = (
            f"mkdir -p {_FOLDER} && cat > {path}.new && chmod +x {path}.new && mv {path}.new {path}"
        )
        run_tool([*self._ssh(), script], self.image.read_bytes())
        return f"copied '{self.image}' to {self.port}, file {path}"

    def open(self) -> Stream:
        return ProcessStream(f"port '{self.port}'", [*self._ssh(), f"exec {self._path()}"])

    def _path(self) -> str:
        return f"{_FOLDER}/{shlex.quote(self.board.name)}"

    def _ssh(self) -> list[str]:
        try:
            url = urlsplit(self.port or "")
            host, port = url.hostname, url.port
        except ValueError:
            host, port = None, None
        if not host or url.path not in ("", "/"):
            raise UsageError(f"--port '{self.port}': write it as ssh://user@host or .../:port")
        user = ["-l", url.username] if url.username else []
        number = ["-p", str(port)] if port else []
        limits = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5"]
        return ["ssh", "-T", *limits, *self.arguments(), *user, *number, "--", host]
