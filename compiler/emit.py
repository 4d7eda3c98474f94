"""From a plan to what is linked: the blob, the C of the kernels, and the header."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from compiler.blob import CONSTANTS_ALIGNMENT, Blob, BlobStep, BlobTensor, Operand, write_blob
from compiler.emit_c import KernelCode, emit_kernels
from compiler.graph import Graph, Tensor
from compiler.kernels import Buffer, Constant, Input, Scratch
from compiler.plan import Plan
from compiler.schedule import Step

Role = Literal["input", "output", "state"]


@dataclass(frozen=True, eq=False)
class Emitted:
    """``blob`` and ``kernels_c`` belong together by ``code.hash``; ``header`` is for users."""

    blob: bytes
    code: KernelCode
    header: str
    constant_bytes: int


@dataclass
class _Constants:
    """The constants section: each distinct array once, aligned."""

    data: bytearray = field(default_factory=bytearray)
    known: dict[bytes, int] = field(default_factory=dict)

    def add(self, array: np.ndarray) -> Operand:
        raw = np.ascontiguousarray(array).tobytes()
        key = hashlib.sha256(raw).digest()
        if key not in self.known:
            self.data.extend(bytes(-len(self.data) % CONSTANTS_ALIGNMENT))
            self.known[key] = len(self.data)
            self.data.extend(raw)
        return Operand("constant", self.known[key], len(raw))


def emit(plan: Plan, *, shared: bool) -> Emitted:
    """Blob, C text and header of the planned model; the same plan gives the same bytes."""
    schedule = plan.schedule
    graph = schedule.graph
    code = emit_kernels(schedule.steps, shared=shared)
    constants = _Constants()
    steps = tuple(
        BlobStep(kernel, _operands(step, plan, constants))
        for step, kernel in zip(schedule.steps, code.kernel_of_step, strict=True)
    )
    blob = Blob(
        code_hash=code.hash,
        numerics=graph.numerics,
        arena_bytes=plan.arena_bytes,
        arena_alignment=schedule.alignment,
        steps=steps,
        tensors=_blob_tensors(graph, plan, constants),
        constants=bytes(constants.data),
    )
    data = write_blob(blob)
    return Emitted(data, code, _header(graph, plan, data), len(constants.data))


def _operands(step: Step, plan: Plan, constants: _Constants) -> tuple[Operand, ...]:
    return tuple(
        _operand(index, buffer, step, plan, constants)
        for index, buffer in enumerate(step.call.buffers)
    )


def _operand(index: int, buffer: Buffer, step: Step, plan: Plan, constants: _Constants) -> Operand:
    if isinstance(buffer, Constant):
        return constants.add(buffer.data)
    if isinstance(buffer, Scratch):
        return Operand("arena", plan.scratch_offset(step.index, index), buffer.bytes)
    view = step.view
    tensor = view.input(buffer.index) if isinstance(buffer, Input) else view.output(buffer.index)
    if tensor.is_constant:
        assert tensor.data is not None
        return constants.add(tensor.data)
    return Operand("arena", plan.tensor_offset(tensor.name), tensor.bytes)


def _blob_tensors(graph: Graph, plan: Plan, constants: _Constants) -> tuple[BlobTensor, ...]:
    states = sorted(name for name, tensor in graph.tensors.items() if tensor.is_state)
    rows: list[tuple[Role, str]] = [("input", n) for n in graph.inputs]
    rows += [("output", n) for n in graph.outputs]
    rows += [("state", n) for n in states]
    return tuple(_blob_tensor(graph.tensors[name], role, plan, constants) for role, name in rows)


def _blob_tensor(tensor: Tensor, role: Role, plan: Plan, constants: _Constants) -> BlobTensor:
    initial = None
    if role == "state" and tensor.data is not None and np.any(tensor.data):
        initial = constants.add(tensor.data).offset
    return BlobTensor(
        name=tensor.name,
        dtype=tensor.dtype,
        shape=tensor.shape,
        scale=tensor.scale if tensor.quant else 0.0,
        zero_point=tensor.zero_point,
        role=role,
        offset=plan.tensor_offset(tensor.name),
        bytes=tensor.bytes,
        initial=initial,
    )


def c_identifier(name: str) -> str:
    """An upper-case C identifier made from a tensor name."""
    return re.sub(r"\W+", "_", name).strip("_").upper() or "TENSOR"


def _header(graph: Graph, plan: Plan, blob: bytes) -> str:
    lines = [
        "/* What firmware needs to know of the model. Made by Kiln. */",
        "#ifndef KILN_MODEL_H",
        "#define KILN_MODEL_H",
        "",
        '#include "kiln.h"',
        "",
        f"#define KILN_MODEL_NAME {_c_string(graph.name)}",
        f"#define KILN_ARENA_BYTES {plan.arena_bytes}",
        f"#define KILN_ARENA_ALIGNMENT {plan.schedule.alignment}",
        f"#define KILN_BLOB_BYTES {len(blob)}",
        "",
    ]
    for role, names in (("INPUT", graph.inputs), ("OUTPUT", graph.outputs)):
        for index, name in enumerate(names):
            lines += _header_tensor(f"KILN_{role}_{index}", graph.tensors[name])
    lines += [
        "extern const kiln_code kiln_model_code;",
        "extern const uint8_t kiln_model_blob[];",
        "extern const uint32_t kiln_model_blob_bytes;",
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _c_string(text: str) -> str:
    """A C string literal of what is printable and needs no escape in ``text``."""
    return '"' + re.sub(r'[^ -~]|["\\\\?]', "_", text) + '"'


def _header_tensor(prefix: str, tensor: Tensor) -> list[str]:
    dims = " x ".join(map(str, tensor.shape)) or "scalar"
    comment = f"{tensor.name}: {tensor.dtype} {dims}".replace("*/", "* /")
    lines = [f"/* {comment} */", f"#define {prefix}_BYTES {tensor.bytes}"]
    if tensor.quant:
        lines.append(f"#define {prefix}_SCALE {float(np.float32(tensor.scale)).hex()}f")
        lines.append(f"#define {prefix}_ZERO_POINT ({tensor.zero_point})")
    return [*lines, ""]


def manifest_tensor(tensor: Tensor) -> Mapping[str, object]:
    """The entry of ``build.json`` for an input or output."""
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
        "scale": tensor.scale if tensor.quant else None,
        "zero_point": tensor.zero_point if tensor.quant else None,
    }
