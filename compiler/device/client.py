"""Talks to a board over a byte stream: every request answered once, or a BoardError."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from compiler.device.link import ByteStream, Link
from compiler.device.protocol import (
    LEAST_PAYLOAD,
    VERSION,
    BoardInfo,
    Code,
    TensorInfo,
    decode_hello,
    decode_tensor,
    decode_ticks,
    status_text,
)
from compiler.errors import BoardError

T = TypeVar("T")

_NOT_LOADED = -10


@dataclass(frozen=True, eq=False)
class RunTicks:
    """``ticks[run, step]`` and ``totals[run]``, in the unit of ``BoardInfo.unit``."""

    ticks: npt.NDArray[np.float64]
    totals: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Memory:
    """``stack_bytes`` is 0 where the board does not know it."""

    arena_high_water_bytes: int
    stack_bytes: int


class Client:
    """One board. Call ``hello`` first.

    ``timeout`` seconds without an answer and a request is sent again, ``attempts`` times in
    all. A board that has said that it is at work gets ``patience`` seconds. Every method
    raises BoardError where the board does not answer, answers garbage, or refuses.
    """

    def __init__(
        self,
        stream: ByteStream,
        timeout: float = 2.0,
        *,
        attempts: int = 6,
        patience: float = 600.0,
    ) -> None:
        self._link = Link(stream, timeout, attempts, patience)
        self._name = self._link.name
        self._info: BoardInfo | None = None
        self._inputs: dict[int, bytes] = {}
        self._inputs_are_spent = False

    @property
    def info(self) -> BoardInfo:
        """What the board said last; asks it where it has not said anything."""
        return self._info or self.hello()

    def hello(self) -> BoardInfo:
        """Who is there: the board, its model, its inputs and outputs."""
        info = self._ask(Code.HELLO, b"", decode_hello)
        if info.version != VERSION:
            raise BoardError(
                f"{self._name}: the firmware speaks protocol version {info.version}, this Kiln "
                f"{VERSION}; build and flash again"
            )
        inputs = tuple(self._describe(0, index) for index in range(info.input_count))
        outputs = tuple(self._describe(1, index) for index in range(info.output_count))
        self._info = replace(info, inputs=inputs, outputs=outputs)
        return self._info

    def write_input(self, index: int, data: bytes) -> None:
        """Fill input ``index``. A run may use its memory for something else."""
        tensor = self._tensor(self.info.inputs, "input", index)
        if len(data) != tensor.bytes:
            raise BoardError(
                f"input '{tensor.name}' has {tensor.bytes} bytes on the board, {len(data)} were "
                f"given; flash the build that these inputs are for"
            )
        piece = self.info.payload_bytes - 6
        for offset in range(0, len(data), piece):
            payload = struct.pack("<HI", index, offset) + data[offset : offset + piece]
            self._tell(Code.WRITE, payload)
        self._inputs[index] = data
        self._inputs_are_spent = False

    def run(self, times: int = 1) -> float:
        """Run the model; returns the duration of all runs, in ``BoardInfo.unit``."""
        self._inputs_are_spent = True
        ticks, _ = self._ask(Code.RUN, struct.pack("<I", times), decode_ticks)
        return self._in_unit(ticks)

    def read_output(self, index: int) -> bytes:
        """The bytes of output ``index``."""
        size = self._tensor(self.info.outputs, "output", index).bytes
        piece = self.info.payload_bytes
        data = b""
        while len(data) < size:
            count = min(piece, size - len(data))
            payload = struct.pack("<HII", index, len(data), count)
            data += self._ask(Code.READ, payload, _exactly(count))
        return data

    def profile(self, runs: int = 1) -> RunTicks:
        """Time each step of ``runs`` runs, all of the inputs that were written last."""
        totals: list[float] = []
        rows: list[list[float]] = []
        for _ in range(runs):
            total, row = self._profile_once()
            totals.append(total)
            rows.append(row)
        ticks = np.array(rows, np.float64).reshape(runs, self.info.steps)
        return RunTicks(ticks, np.array(totals, np.float64))

    def memory(self) -> Memory:
        """How much of the arena and of the stack was used since the model was loaded."""
        return Memory(*struct.unpack("<II", self._ask(Code.MEMORY, b"", _exactly(8))))

    def load_blob(self, blob: bytes) -> BoardInfo:
        """Replace the model's data, kernels unchanged. Refused, the old one goes on."""
        piece = self.info.payload_bytes - 4
        self._tell(Code.LOAD_BEGIN, struct.pack("<I", len(blob)))
        for offset in range(0, len(blob), piece):
            payload = struct.pack("<I", offset) + blob[offset : offset + piece]
            self._tell(Code.LOAD_DATA, payload)
        self._tell(Code.LOAD_END)
        self._inputs.clear()
        return self.hello()

    def reset_state(self) -> None:
        """Give every state tensor its initial value."""
        self._tell(Code.RESET_STATE)

    def reset_board(self) -> BoardInfo:
        """Restart the board and greet it again."""
        self._tell(Code.RESET_BOARD)
        self._inputs.clear()
        return self.hello()

    def close(self) -> None:
        self._link.stream.close()

    def _describe(self, role: int, index: int) -> TensorInfo:
        return self._ask(Code.TENSOR, struct.pack("<BH", role, index), decode_tensor)

    def _tensor(self, tensors: tuple[TensorInfo, ...], role: str, index: int) -> TensorInfo:
        if not tensors and self.info.load_status < 0:
            raise BoardError(f"{self._name}: {status_text(self.info.load_status)}")
        if not 0 <= index < len(tensors):
            raise BoardError(
                f"{self._name}: the board's model has {len(tensors)} {role}s, there is no "
                f"{role} {index}; flash the build that is meant"
            )
        return tensors[index]

    def _profile_once(self) -> tuple[float, list[float]]:
        """Steps that do not fit one answer take further runs; the first gives the total."""
        total: float | None = None
        steps: list[float] = []
        while total is None or len(steps) < self.info.steps:
            if self._inputs_are_spent:
                for index, data in list(self._inputs.items()):
                    self.write_input(index, data)
            self._inputs_are_spent = True
            payload = struct.pack("<I", len(steps))
            run_ticks, step_ticks = self._ask(Code.PROFILE, payload, decode_ticks)
            if not step_ticks and len(steps) < self.info.steps:
                raise BoardError(f"{self._name}: the profile ends early; flash a newer firmware")
            total = self._in_unit(run_ticks) if total is None else total
            steps.extend(self._in_unit(ticks) for ticks in step_ticks)
        return total, steps

    def _in_unit(self, ticks: int) -> float:
        return ticks * self.info.clock_numerator / (self.info.clock_denominator or 1)

    def _tell(self, code: Code, payload: bytes = b"") -> None:
        """Send a request that has no result."""
        self._ask(code, payload, _exactly(0))

    def _ask(self, code: Code, payload: bytes, decode: Callable[[bytes], T]) -> T:
        """Send a request until it is answered; returns the decoded result."""
        limit = self._info.payload_bytes if self._info else LEAST_PAYLOAD
        assert len(payload) <= limit, code.name
        answer = self._link.exchange(code, payload)
        status = answer.status
        if status != 0:
            if status == _NOT_LOADED and self._info and self._info.load_status < 0:
                status = self._info.load_status
            raise BoardError(f"{self._name}: the board refuses: {status_text(status)}")
        try:
            return decode(answer.payload[1:])
        except (ValueError, struct.error):
            raise BoardError(
                f"{self._name}: cannot read the answer to {code.name}; flash a newer firmware"
            ) from None


def _exactly(count: int) -> Callable[[bytes], bytes]:
    def check(result: bytes) -> bytes:
        if len(result) != count:
            raise ValueError(f"{len(result)} bytes instead of {count}")
        return result

    return check
