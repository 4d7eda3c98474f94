"""Streams that misbehave: bytes dropped, flipped, cut, repeated, and garbage between frames."""

from __future__ import annotations

import random
import time
from collections import Counter

from compiler.device.link import ByteStream


class FaultyStream:
    """Passes frames on to ``inner`` and back, and damages each with probability ``rate``.

    ``faults`` counts what was done to which direction.
    """

    name = "port 'faulty'"

    def __init__(self, inner: ByteStream, seed: int, rate: float) -> None:
        self._inner = inner
        self._random = random.Random(seed)
        self._rate = rate
        self.faults: Counter[str] = Counter()

    def read(self, max_bytes: int, timeout_seconds: float) -> bytes:
        return self._damage(self._inner.read(max_bytes, timeout_seconds), "back")

    def write(self, data: bytes) -> None:
        self._inner.write(self._damage(data, "to"))

    def close(self) -> None:
        self._inner.close()

    def _damage(self, data: bytes, direction: str) -> bytes:
        rng = self._random
        if not data or rng.random() >= self._rate:
            return data
        fault = rng.choice(("drop", "flip", "cut", "lose", "repeat", "before", "after", "zero"))
        self.faults[f"{fault} {direction}"] += 1
        at = rng.randrange(len(data))
        garbage = rng.randbytes(rng.randint(1, 40))
        damaged = {
            "drop": b"",
            "flip": data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1 :],
            "cut": data[:at],
            "lose": data[:at] + data[at + 1 :],
            "repeat": data + data,
            "before": garbage + data,
            "after": data + garbage,
            "zero": data[:at] + b"\0" + data[at:],
        }
        return damaged[fault]


class ScriptedStream:
    """Answers every write with ``answer(written)``; silent where that is empty."""

    name = "port 'scripted'"

    def __init__(self, answer: bytes = b"", *, echo: bool = False) -> None:
        self._answer, self._echo = answer, echo
        self._waiting = b""
        self.writes = 0

    def read(self, max_bytes: int, timeout_seconds: float) -> bytes:
        data, self._waiting = self._waiting[:max_bytes], self._waiting[max_bytes:]
        if not data:
            time.sleep(timeout_seconds)
        return data

    def write(self, data: bytes) -> None:
        self.writes += 1
        self._waiting += data if self._echo else self._answer

    def close(self) -> None: ...
