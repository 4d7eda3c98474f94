"""One request, one answer: repeats what is lost, and says what is wrong when nothing comes."""

from __future__ import annotations

import re
import time
from typing import Protocol

from compiler.device.protocol import ANSWER, LONG, STARTED, Code, FrameReader, Packet, encode_frame
from compiler.errors import BoardError

#: A lost STARTED must not end the wait for a long request as soon as that for a short one.
_LONG_FACTOR = 5
_READ_BYTES = 1 << 16
_FAULT = re.compile(rb"kiln fault: ([ -~]*)[\r\n]")


class ByteStream(Protocol):
    """What is needed of a connection. Its ``name``, if any, is used in messages."""

    def read(self, max_bytes: int, timeout_seconds: float) -> bytes:
        """What has come, at most ``max_bytes``; empty if nothing came in time."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class Link:
    """Numbers requests and waits for their answers, never without a limit.

    ``timeout`` seconds without an answer and a request is sent again, ``attempts`` times in
    all. A board that has said that it is at work gets ``patience`` seconds.
    """

    def __init__(self, stream: ByteStream, timeout: float, attempts: int, patience: float) -> None:
        self.stream = stream
        self.name = str(getattr(stream, "name", "the port"))
        self._timeout = timeout
        self._attempts = attempts
        self._patience = patience
        self._reader = FrameReader()
        self._sequence = 0
        self._has_answered = False
        self._has_echoed = False

    def exchange(self, code: Code, payload: bytes) -> Packet:
        """The final answer to a request. Raises BoardError where none comes."""
        request = Packet(self._sequence, code, payload)
        self._sequence = (self._sequence + 1) % 256
        frame = encode_frame(request)
        wait = self._timeout
        factor = _LONG_FACTOR if code in LONG else 1
        deadline = time.monotonic() + factor * self._attempts * self._timeout
        started = False
        self._reader.clear_text()
        while time.monotonic() < deadline:
            self.stream.write(frame)
            answer = self._wait(request, min(time.monotonic() + wait, deadline))
            if answer is not None and answer.status == STARTED:
                if not started:
                    deadline = time.monotonic() + self._patience
                started = True
                until = min(time.monotonic() + wait, deadline)
                answer = self._wait(request, until, final=True)
            if answer is not None:
                self._has_answered = True
                return answer
            if started:
                wait *= 2  # a board at work reads nothing: repeat ever more rarely
        raise BoardError(f"{self.name}{self._silence(code, started)}")

    def _wait(self, request: Packet, until: float, final: bool = False) -> Packet | None:
        """The next answer to ``request``; with ``final``, not one that says STARTED."""
        while (left := until - time.monotonic()) > 0:
            before = time.monotonic()
            data = self.stream.read(_READ_BYTES, left)
            if not data and time.monotonic() - before < left / 2:
                time.sleep(min(0.01, left))  # a stream that does not wait must not make us spin
            answers = [p for p in self._reader.feed(data) if self._answers(p, request)]
            if final:
                answers = [p for p in answers if p.status != STARTED]
            if answers:
                return answers[-1]
            self._raise_fault()
        return None

    def _answers(self, packet: Packet, request: Packet) -> bool:
        if not packet.code & ANSWER:
            self._has_echoed = True
        code = request.code | ANSWER
        return bool(packet.payload) and (packet.sequence, packet.code) == (request.sequence, code)

    def _raise_fault(self) -> None:
        fault = _FAULT.search(self._reader.text)
        if fault:
            raise BoardError(
                f"{self.name}: the firmware stopped with a fault ({fault[1].decode()}); "
                f"build and flash again"
            )

    def _silence(self, code: Code, started: bool) -> str:
        if started:
            return (
                f": the board began to work and has not finished after {self._patience:g} s; "
                f"reset it"
            )
        text = self._reader.text
        if self._has_echoed and not self._has_answered:
            return " sends back what it is sent: it is a loop; name the port of the board"
        if text and not self._has_answered:
            shown = text[:40].decode("ascii", errors="backslashreplace")
            return (
                f" answers, but not with Kiln frames: {shown!r}; flash the board first, or check "
                f"the baud rate"
            )
        return (
            f": no answer to {code.name} within {self._attempts * self._timeout:g} s; check the "
            f"cable and the power, and that the board is flashed"
        )
