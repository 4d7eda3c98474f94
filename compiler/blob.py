"""The model blob: its dataclasses, the writer, and a reader as strict as the C loader.

``runtime/BLOB.md`` specifies every byte.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

from compiler.errors import ModelError
from compiler.graph import DTYPE_BYTES, Shape

MAGIC = b"KILN"
VERSION = 1
#: The constants section begins at a multiple of this many bytes.
CONSTANTS_ALIGNMENT = 64
MAX_RANK = 8
MAX_OPERANDS = 64
MAX_ALIGNMENT = 4096

_NUMERICS = ("tflite", "fast")
_ROLES = ("input", "output", "state")
#: In the order of kiln_dtype.
DTYPES = ("float32", "float16", "int8", "uint8", "int16", "uint16",
           "int32", "uint32", "int64", "uint64", "bool", "float64")  # fmt: skip
_NONE = 0xFFFFFFFF
_CONSTANT = 1 << 31

_HEADER = struct.Struct("<4sHBBII16sIIIHHHHIII")
_STEP = struct.Struct("<HH")
_OPERAND = struct.Struct("<II")
_TENSOR = struct.Struct("<BBBBIIIIfi8II")


@dataclass(frozen=True)
class Operand:
    """``bytes`` bytes at ``offset`` of the arena or of the constants section."""

    space: Literal["arena", "constant"]
    offset: int
    bytes: int


@dataclass(frozen=True)
class BlobStep:
    """One call: ``kernel`` is the index of the function in ``model_kernels.c``."""

    kernel: int
    operands: tuple[Operand, ...]


@dataclass(frozen=True)
class BlobTensor:
    """A tensor that the caller sees, at ``offset`` of the arena.

    ``scale`` is 0.0 where it is not quantized. ``initial`` is the offset of a state's first
    value in the constants; None is zeros.
    """

    name: str
    dtype: str
    shape: Shape
    scale: float
    zero_point: int
    role: Literal["input", "output", "state"]
    offset: int
    bytes: int
    initial: int | None = None


@dataclass(frozen=True)
class Blob:
    """A model as data. ``tensors``: inputs, then outputs, then states, in the model's order."""

    code_hash: bytes
    numerics: str
    arena_bytes: int
    arena_alignment: int
    steps: tuple[BlobStep, ...]
    tensors: tuple[BlobTensor, ...]
    constants: bytes

    def of_role(self, role: str) -> tuple[BlobTensor, ...]:
        return tuple(tensor for tensor in self.tensors if tensor.role == role)


def write_blob(blob: Blob) -> bytes:
    """The bytes of ``blob``; the same blob gives the same bytes.

    Raises ModelError where ``blob`` breaks a rule of the format.
    """
    try:
        data = encode_blob(blob)
    except (struct.error, ValueError, OverflowError) as error:
        raise ModelError(f"blob: a value does not fit its field ({error})") from error
    read_blob(data)
    return data


def encode_blob(blob: Blob) -> bytes:
    """As ``write_blob``, but checks no rule: for tests of what the loaders refuse."""
    steps = b"".join(_encode_step(step) for step in blob.steps)
    names_offset = _HEADER.size + len(steps) + _TENSOR.size * len(blob.tensors)
    names = b""
    tensors = b""
    for tensor in blob.tensors:
        tensors += _encode_tensor(tensor, names_offset + len(names))
        names += tensor.name.encode() + b"\0"
    names += b"\0" * (-(names_offset + len(names)) % CONSTANTS_ALIGNMENT)
    constants_offset = names_offset + len(names)
    counts = [len(blob.of_role(role)) for role in _ROLES]
    header = _HEADER.pack(
        MAGIC, VERSION, _NUMERICS.index(blob.numerics), 0, constants_offset + len(blob.constants),
        0, blob.code_hash, blob.arena_bytes, blob.arena_alignment, len(blob.steps),
        *counts, 0, _HEADER.size + len(steps), names_offset, constants_offset,
    )  # fmt: skip
    return sealed(header + steps + tensors + names + blob.constants)


def sealed(data: bytes) -> bytes:
    """``data`` with the CRC in its header made right."""
    return data[:12] + struct.pack("<I", blob_crc(data)) + data[16:]


def read_blob(data: bytes) -> Blob:
    """The blob in ``data``. Raises ModelError for all that the C loader refuses."""
    if len(data) < _HEADER.size or data[:4] != MAGIC:
        _refuse("no blob: it does not begin with KILN; give the model.blob that build made")
    (_, version, numerics, zero, size, crc, code_hash, arena_bytes, alignment, step_count,
     inputs, outputs, states, zero_2, tensors_offset, names_offset, constants_offset,
     ) = _HEADER.unpack_from(data)  # fmt: skip
    if version != VERSION:
        _refuse(f"format version {version}, this is Kiln's {VERSION}; build the model again")
    if size != len(data):
        _refuse(f"{len(data)} bytes where its header says {size}; it was cut, copy it again")
    if crc != blob_crc(data):
        _refuse("the CRC is wrong: it is damaged; copy it again or build the model again")
    tensor_count = inputs + outputs + states
    _check(numerics < len(_NUMERICS) and zero == 0 and zero_2 == 0, "header")
    _check(arena_bytes < _CONSTANT, "arena size")
    _check(4 <= alignment <= MAX_ALIGNMENT and alignment & (alignment - 1) == 0, "alignment")
    _check(_HEADER.size <= tensors_offset <= names_offset < constants_offset <= size, "sections")
    _check(tensors_offset % 4 == 0 and constants_offset % CONSTANTS_ALIGNMENT == 0, "sections")
    _check(names_offset - tensors_offset == tensor_count * _TENSOR.size, "tensor count")
    _check(data[constants_offset - 1] == 0, "names")
    constants = data[constants_offset:]
    limits = {"arena": arena_bytes, "constant": len(constants)}
    roles = ["input"] * inputs + ["output"] * outputs + ["state"] * states
    return Blob(
        code_hash, _NUMERICS[numerics], arena_bytes, alignment,
        tuple(_decode_steps(data, step_count, tensors_offset, limits)),
        tuple(
            _decode_tensor(data, tensors_offset + i * _TENSOR.size, role, names_offset, limits)
            for i, role in enumerate(roles)
        ),
        constants,
    )  # fmt: skip


def _encode_step(step: BlobStep) -> bytes:
    operands = (
        _OPERAND.pack(_CONSTANT * (o.space == "constant") + o.offset, o.bytes)
        for o in step.operands
    )
    return _STEP.pack(step.kernel, len(step.operands)) + b"".join(operands)


def _encode_tensor(tensor: BlobTensor, name_offset: int) -> bytes:
    shape = tuple(tensor.shape) + (0,) * (MAX_RANK - len(tensor.shape))
    if len(shape) > MAX_RANK:
        _refuse(f"tensor '{tensor.name}' has rank {len(shape)}; at most {MAX_RANK} is possible")
    return _TENSOR.pack(
        _ROLES.index(tensor.role), DTYPES.index(tensor.dtype), len(tensor.shape), 0, name_offset,
        tensor.offset, tensor.bytes, _NONE if tensor.initial is None else tensor.initial,
        tensor.scale, tensor.zero_point, *shape, 0,
    )  # fmt: skip


def _decode_steps(data: bytes, count: int, end: int, limits: dict[str, int]) -> Iterator[BlobStep]:
    at = _HEADER.size
    for index in range(count):
        _check(at + _STEP.size <= end, f"step {index}")
        kernel, operand_count = _STEP.unpack_from(data, at)
        at += _STEP.size
        _check(operand_count <= MAX_OPERANDS, f"step {index}: over {MAX_OPERANDS} operands")
        _check(at + operand_count * _OPERAND.size <= end, f"step {index}")
        operands: list[Operand] = []
        for place, size in _OPERAND.iter_unpack(data[at : at + operand_count * _OPERAND.size]):
            space: Literal["arena", "constant"] = "constant" if place & _CONSTANT else "arena"
            offset = place & ~_CONSTANT
            _check(offset + size <= limits[space], f"step {index}: operand {len(operands)}")
            operands.append(Operand(space, offset, size))
        at += operand_count * _OPERAND.size
        yield BlobStep(kernel, tuple(operands))
    _check(at == end, "steps")


def _decode_tensor(
    data: bytes, at: int, role: str, names_offset: int, limits: dict[str, int]
) -> BlobTensor:
    (role_code, dtype_code, rank, zero, name_offset, offset, size, initial, scale, zero_point,
     *shape, zero_2) = _TENSOR.unpack_from(data, at)  # fmt: skip
    names_end = len(data) - limits["constant"]
    _check(names_offset <= name_offset < names_end, "name of a tensor")
    raw_name = data[name_offset : data.index(0, name_offset)]
    name = raw_name.decode(errors="replace")
    _check(role_code < len(_ROLES) and _ROLES[role_code] == role, f"tensor '{name}': role")
    _check(dtype_code < len(DTYPES) and rank <= MAX_RANK and zero == 0 == zero_2, f"'{name}'")
    element = DTYPE_BYTES[DTYPES[dtype_code]]
    _check(not any(shape[rank:]), f"tensor '{name}': shape")
    _check(size == element * math.prod(shape[:rank]), f"tensor '{name}': bytes")
    _check(offset % min(element, 4) == 0, f"tensor '{name}': alignment")
    _check(offset + size <= limits["arena"], f"tensor '{name}': place in the arena")
    if initial != _NONE:
        inside = role == "state" and initial + size <= limits["constant"]
        _check(inside, f"tensor '{name}': initial value")
    return BlobTensor(
        name, DTYPES[dtype_code], tuple(shape[:rank]), scale, zero_point,
        _ROLES[role_code],  # type: ignore[arg-type]
        offset, size, None if initial == _NONE else initial,
    )  # fmt: skip


def blob_crc(data: bytes) -> int:
    """The CRC-32 in a blob's header: of all bytes but its own."""
    return zlib.crc32(data[16:], zlib.crc32(data[:12]))


def _check(rule: bool, what: str) -> None:
    if not rule:
        _refuse(f"{what} is outside its bounds; build the model again")


def _refuse(reason: str) -> NoReturn:
    raise ModelError(f"blob: {reason}")
