"""Byte streams to a board: pipes of a process, a socket, a serial port. Every wait has a limit."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any

from compiler.errors import BoardError, ToolError

#: Seconds in which the other side must take what is written to it, or connect.
WRITE_SECONDS = 20.0
CONNECT_SECONDS = 10.0
#: Seconds that a process gets to end by itself before it is killed.
_END_SECONDS = 1.0


class Stream:
    """A duplex byte stream; also a context manager that closes it. Messages use its ``name``."""

    name: str

    def read(self, max_bytes: int, timeout_seconds: float) -> bytes:
        """At least one byte as soon as there is one; nothing after ``timeout_seconds``.

        Raises BoardError where the other side has gone.
        """
        raise NotImplementedError

    def write(self, data: bytes) -> None:
        """Raises BoardError where the other side has gone or takes nothing."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends whatever was started for this stream. May be called again."""
        raise NotImplementedError

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Process:
    """A child process that is killed and reaped when it is closed, forgotten, or Python ends."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        has_pipes: bool,
        environment: Mapping[str, str] | None = None,
        folder: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        """``environment`` is added to our own; ``folder`` is removed when the process has ended.

        Raises ToolError where the program cannot be started.
        """
        self.name = name
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed by _end_process)
        pipe = subprocess.PIPE if has_pipes else subprocess.DEVNULL
        try:
            self.popen: subprocess.Popen[bytes] = subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                stderr=self._stderr,
                bufsize=0,
                env={**os.environ, **(environment or {})},
            )
        except OSError as error:
            raise ToolError(f"cannot start '{command[0]}': {error.strerror}; install it") from None
        self._end = weakref.finalize(self, _end_process, self.popen, self._stderr, folder)

    def last_words(self) -> str:
        """The last line that it wrote to its standard error, or how it ended."""
        with contextlib.suppress(OSError, ValueError):
            self._stderr.seek(0)
            lines = self._stderr.read().decode(errors="replace").split("\n")
            said = [line.strip() for line in lines if line.strip() and "warning:" not in line]
            if said:
                return said[-1]
        status = self.popen.poll()
        if status is not None and status < 0:
            return f"ended by {signal.Signals(-status).name}"
        return "closed its output" if status is None else f"exit status {status}"

    def gone(self) -> BoardError:
        """What to raise when it has ended or hung up."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(_END_SECONDS)
        return BoardError(f"{self.name} ended unexpectedly: {self.last_words()}")

    def close(self) -> None:
        self._end()


def _end_process(
    popen: subprocess.Popen[bytes],
    stderr: IO[bytes],
    folder: tempfile.TemporaryDirectory[str] | None,
) -> None:
    for pipe in (popen.stdin, popen.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    if popen.poll() is None:
        popen.terminate()
        try:
            popen.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            popen.kill()
            popen.wait()
    stderr.close()
    if folder is not None:
        folder.cleanup()


class ProcessStream(Stream):
    """The standard input and output of a process."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        folder: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        """As `Process`. Raises ToolError where the program cannot be started."""
        self.name = name
        self._process = Process(
            name, command, has_pipes=True, environment=environment, folder=folder
        )
        stdin, stdout = self._process.popen.stdin, self._process.popen.stdout
        assert stdin is not None and stdout is not None
        self._stdin, self._stdout = stdin, stdout
        os.set_blocking(stdin.fileno(), False)

    def read(self, max_bytes: int, timeout_seconds: float) -> bytes:
        ready, _, _ = select.select([self._stdout], [], [], timeout_seconds)
        if not ready:
            return b""
        data = os.read(self._stdout.fileno(), max_bytes)
        if not data:
            raise self._process.gone()
        return data

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        deadline = time.monotonic() + WRITE_SECONDS
        while view:
            _, ready, _ = select.select([], [self._stdin], [], deadline - time.monotonic())
            if not ready:
                raise BoardError(f"{self._process.name}: takes no input; start it again")
            try:
                view = view[os.write(self._stdin.fileno(), view) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._process.gone() from None

    def close(self) -> None:
        self._process.close()


class SocketStream(Stream):
    """A connected TCP socket, and the process at its other end if we started that."""

    def __init__(self, name: str, connection: socket.socket, process: Process | None = None):
        self.name, self._socket, self._process = name, connection, process
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, max_bytes: int, timeout_seconds: float) -> bytes:
        self._socket.settimeout(max(timeout_seconds, 1e-6))
        try:
            data = self._socket.recv(max_bytes)
        except TimeoutError:
            return b""
        except OSError:
            data = b""
        if not data:
            raise self._gone()
        return data

    def write(self, data: bytes) -> None:
        self._socket.settimeout(WRITE_SECONDS)
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise BoardError(f"{self.name}: takes no input; reset it") from None
        except OSError:
            raise self._gone() from None

    def _gone(self) -> BoardError:
        if self._process is not None:
            return self._process.gone()
        return BoardError(f"{self.name}: the connection was closed; is the board still there?")

    def close(self) -> None:
        self._socket.close()
        if self._process is not None:
            self._process.close()


def connect_socket(url: str) -> SocketStream:
    """``socket://host:port``. Raises BoardError."""
    host, separator, port = url.removeprefix("socket://").rstrip("/").rpartition(":")
    if not separator or not port.isdigit() or int(port) > 65535:
        raise BoardError(f"port '{url}': write it as socket://host:port")
    address = (host.strip("[]"), int(port))
    try:
        connection = socket.create_connection(address, timeout=CONNECT_SECONDS)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BoardError(f"port '{url}': {reason}; is the board or emulator running?") from None
    return SocketStream(f"port '{url}'", connection)


class SerialStream(Stream):
    """A serial port, or anything else that pyserial opens by URL."""

    def __init__(self, port: str, baud: int) -> None:
        """Raises BoardError where the port cannot be opened."""
        import serial

        self.name = f"port '{port}'"
        self._failures = (serial.SerialException, OSError)
        try:
            self._serial: Any = serial.serial_for_url(port, baud, write_timeout=WRITE_SECONDS)
        except (serial.SerialException, OSError, ValueError) as error:
            number = getattr(error, "errno", None)
            reason = os.strerror(number) if number else str(error)
            raise BoardError(f"port '{port}': cannot be opened: {reason}; name another") from None

    def read(self, max_bytes: int, timeout_seconds: float) -> bytes:
        try:
            self._serial.timeout = timeout_seconds
            data = bytes(self._serial.read(1))
            waiting = min(self._serial.in_waiting, max_bytes - 1) if data else 0
            return data + bytes(self._serial.read(waiting)) if waiting else data
        except self._failures as error:
            raise BoardError(f"{self.name}: {error}; is the board still connected?") from None

    def write(self, data: bytes) -> None:
        try:
            self._serial.write(data)
        except self._failures as error:
            raise BoardError(f"{self.name}: {error}; is the board still connected?") from None

    def close(self) -> None:
        self._serial.close()
