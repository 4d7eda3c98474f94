"""The frames and messages of ``runtime/PROTOCOL.md``, without any input or output."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum

from cobs import cobs

from compiler.blob import DTYPES
from compiler.graph import Shape

VERSION = 1
#: An answer's code is its request's plus this.
ANSWER = 0x80
#: The board works on a request that may take long.
STARTED = 1
#: What fits every board, until HELLO tells.
LEAST_PAYLOAD = 128

_UNITS = ("cycles", "instructions", "ns")
_HELLO = struct.Struct("<BBHIIII16sIIIIHHb")
_TENSOR = struct.Struct("<BBIfi")
_TICKS = struct.Struct("<Q")


class Code(IntEnum):
    """What is asked for."""

    HELLO = 1
    TENSOR = 2
    WRITE = 3
    READ = 4
    RUN = 5
    PROFILE = 6
    MEMORY = 7
    LOAD_BEGIN = 8
    LOAD_DATA = 9
    LOAD_END = 10
    RESET_STATE = 11
    RESET_BOARD = 12


#: The board may take its time, and says STARTED first.
LONG = frozenset({Code.RUN, Code.PROFILE, Code.LOAD_END})

#: What a refusal means and what to do.
STATUS_TEXTS = {
    -1: "bad argument; the host and the firmware do not belong together, flash it again",
    -2: "its blob is no Kiln blob; build and flash again",
    -3: "its blob has another format version; build and flash again",
    -4: "its blob is cut; build and flash again",
    -5: "its blob is damaged (wrong CRC); flash it again",
    -6: "its blob's structure is broken; build the model again",
    -7: "the blob was made for other kernels; flash the firmware that was built with it",
    -8: "the blob needs a larger arena than the firmware has; flash the firmware built with it",
    -9: "the blob or the arena is misaligned; build the firmware again",
    -10: "no model is loaded; flash a firmware, or load a blob",
    -32: "its firmware does not know this request; flash a newer one",
    -33: "it refuses the request's numbers; the model on it is another, flash it again",
    -34: "it has no memory for a second blob; build with KILN_BLOB_SLOT_BYTES, or flash",
    -35: "the blob is larger than the memory kept for it; flash it instead",
    -36: "pieces of the blob are missing; load it again",
}


def status_text(status: int) -> str:
    return STATUS_TEXTS.get(status, f"unknown status {status}; flash a newer firmware")


@dataclass(frozen=True)
class Packet:
    """A request or an answer; an answer's ``payload`` begins with its status."""

    sequence: int
    code: int
    payload: bytes

    @property
    def status(self) -> int:
        """Of an answer: -128..127."""
        return int.from_bytes(self.payload[:1], "little", signed=True)


def encode_frame(packet: Packet) -> bytes:
    """The bytes on the wire, with a zero at both ends."""
    body = bytes((packet.sequence, packet.code)) + packet.payload
    stuffed: bytes = cobs.encode(body + struct.pack("<I", zlib.crc32(body)))
    return b"\0" + stuffed + b"\0"


def decode_packet(stuffed: bytes) -> Packet | None:
    """The packet between two zeros; None where it is none, or damaged."""
    try:
        body = cobs.decode(stuffed)
    except cobs.DecodeError:
        return None
    if len(body) < 6 or zlib.crc32(body[:-4]) != int.from_bytes(body[-4:], "little"):
        return None
    return Packet(body[0], body[1], body[2:-4])


class FrameReader:
    """Finds packets in a stream of bytes; ``text`` gathers what is none (the end of it)."""

    TEXT_BYTES = 4096

    def __init__(self) -> None:
        self._pending = bytearray()
        self._text = b""

    @property
    def text(self) -> bytes:
        return (self._text + bytes(self._pending))[-self.TEXT_BYTES :]

    def clear_text(self) -> None:
        self._text = b""

    def feed(self, data: bytes) -> list[Packet]:
        """The packets that ``data`` completes."""
        *pieces, rest = (bytes(self._pending) + data).split(b"\0")
        self._pending = bytearray(rest[-(1 << 20) :])
        packets: list[Packet] = []
        for piece in pieces:
            packet = decode_packet(piece) if piece else None
            if packet is not None:
                packets.append(packet)
            else:
                self._text = (self._text + piece)[-self.TEXT_BYTES :]
        return packets


@dataclass(frozen=True)
class TensorInfo:
    """An input or output as the board describes it; ``scale`` is 0.0 if not quantized."""

    name: str
    dtype: str
    shape: Shape
    bytes: int
    scale: float
    zero_point: int


@dataclass(frozen=True)
class BoardInfo:
    """What HELLO tells. ``unit`` is what the clock counts: "cycles", "instructions" or "ns".

    ``load_status`` is below 0 where the board could not load its model (``status_text`` says
    why); the model's numbers are then 0.
    """

    version: int
    unit: str
    payload_bytes: int
    clock_numerator: int
    clock_denominator: int
    blob_bytes: int
    blob_crc: int
    code_hash: bytes
    arena_bytes: int
    arena_capacity_bytes: int
    slot_bytes: int
    steps: int
    input_count: int
    output_count: int
    load_status: int
    board: str
    inputs: tuple[TensorInfo, ...] = ()
    outputs: tuple[TensorInfo, ...] = ()


def decode_hello(result: bytes) -> BoardInfo:
    """Raises ValueError where it cannot be one."""
    if len(result) < _HELLO.size or result[1] >= len(_UNITS):
        raise ValueError("no answer to HELLO")
    (version, unit, payload_bytes, numerator, denominator, blob_bytes, blob_crc, code_hash,
     arena_bytes, arena_capacity_bytes, slot_bytes, steps, input_count, output_count, load_status,
     ) = _HELLO.unpack_from(result)  # fmt: skip
    return BoardInfo(
        version, _UNITS[unit], payload_bytes, numerator, denominator, blob_bytes, blob_crc,
        code_hash, arena_bytes, arena_capacity_bytes, slot_bytes, steps, input_count, output_count,
        load_status, board=result[_HELLO.size :].decode(errors="replace"),
    )  # fmt: skip


def decode_tensor(result: bytes) -> TensorInfo:
    """Raises ValueError where it cannot be one."""
    if len(result) < _TENSOR.size:
        raise ValueError("no answer to TENSOR")
    dtype, rank, size, scale, zero_point = _TENSOR.unpack_from(result)
    end = _TENSOR.size + 4 * rank
    if dtype >= len(DTYPES) or len(result) < end:
        raise ValueError("no answer to TENSOR")
    shape = struct.unpack_from(f"<{rank}I", result, _TENSOR.size)
    name = result[end:].decode(errors="replace")
    return TensorInfo(name, DTYPES[dtype], shape, size, scale, zero_point)


def decode_ticks(result: bytes) -> tuple[int, tuple[int, ...]]:
    """Of RUN and PROFILE: ticks of the run, and of steps. Raises ValueError."""
    if len(result) < 8 or len(result) % 4 != 0:
        raise ValueError("no ticks")
    return _TICKS.unpack_from(result)[0], struct.unpack_from(f"<{len(result) // 4 - 2}I", result, 8)
