"""Writes ``model_kernels.c`` and ``kiln_model.h``: constant shapes, and calls to kernels."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.files import read_bytes
from compiler.kernels import Call, Field, Kernel
from compiler.paths import RUNTIME, TARGETS
from compiler.schedule import Step

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class KernelCode:
    """The C of one model: ``kernel_of_step[i]`` is the index of step i's function."""

    text: str
    kernel_of_step: tuple[int, ...]
    hash: bytes  # 16 bytes: changes whenever the machine code may


def c_number(value: int | float | str) -> str:
    """An exact C99 literal; the name of a constant stands for itself."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        if math.isinf(value):
            return "-__builtin_inff()" if value < 0 else "__builtin_inff()"
        return f"{value.hex()}f"
    if value == -(2**31):
        return "(-2147483647 - 1)"
    if value == -(2**63):
        return "(-INT64_C(9223372036854775807) - 1)"
    return str(value) if -(2**31) < value < 2**31 else f"INT64_C({value})"


def c_field(value: Field) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(c_number(item) for item in value) + "}"
    return c_number(value)


def c_struct(name: str, call: Call) -> str:
    """``static const struct <struct> <name> = {...};``."""
    members = ",\n".join(f"    .{key} = {c_field(value)}" for key, value in call.fields.items())
    return f"static const struct {call.struct} {name} = {{\n{members}}};\n"


def c_call(kernel: Kernel, call: Call, shape: str) -> str:
    """The call statement; ``shape`` is an expression for the pointer to the struct."""
    operands = "".join(f", b[{i}]" for i in range(len(call.buffers)))
    return f"{kernel.name}({shape}{operands});"


def include_path(kernel: Kernel) -> str:
    return f"{kernel.target}/kernels/{kernel.source}"


def source_text(kernel: Kernel) -> str:
    """What brings the kernel's body in: an include, or a plugin's header as it is."""
    if kernel.folder is None:
        return f'#include "{include_path(kernel)}"'
    text = read_bytes(kernel.folder / kernel.source, f"source of kernel '{kernel.name}'").decode()
    return f"/* {kernel.source}, of a plugin */\n{text}"


def _copy_name(step: Step) -> str:
    """The shared copy of a kernel; one that takes any number of buffers has one for each."""
    return f"{step.kernel.name}__shared_{len(step.call.buffers)}"


def _shared_copies(steps: Sequence[Step]) -> set[str]:
    """Kernels with several distinct shapes: one shared copy of each is the smaller code."""
    shapes: dict[str, set[str]] = {}
    for step in steps:
        if step.kernel.shareable:
            shapes.setdefault(_copy_name(step), set()).add(c_struct("", step.call))
    return {name for name, distinct in shapes.items() if len(distinct) > 1}


def emit_kernels(steps: Sequence[Step], *, shared: bool) -> KernelCode:
    """One function per distinct (kernel, shape); with ``shared`` the body exists once."""
    copies = _shared_copies(steps) if shared else set()
    functions: dict[str, int] = {}
    chunks: list[str] = []
    order: list[int] = []
    defined: set[str] = set()
    for step in steps:
        kernel, call = step.kernel, step.call
        identity = f"{kernel.name} {len(call.buffers)} {c_struct('', call)}"
        if identity not in functions:
            index = functions[identity] = len(functions)
            shape = f"shape_{index}"
            body = c_call(kernel, call, f"&{shape}")
            if (copy := _copy_name(step)) in copies:
                if copy not in defined:
                    defined.add(copy)
                    chunks.append(
                        f"KILN_SHARED void {copy}(\n"
                        f"    const struct {call.struct} *shape, void *const *b) {{\n"
                        f"    {c_call(kernel, call, 'shape')}\n}}\n"
                    )
                body = f"{copy}(&{shape}, b);"
            chunks.append(c_struct(shape, call))
            chunks.append(f"static void kernel_{index}(void *const *b) {{\n    {body}\n}}\n")
        order.append(functions[identity])
    head = "\n".join(dict.fromkeys(source_text(step.kernel) for step in steps))
    table = ", ".join(f"kernel_{i}" for i in range(len(functions))) or "0"
    body = head + "\n\n" + "\n".join(chunks)
    body += f"\nstatic const kiln_kernel kernels[] = {{{table}}};\n"
    digest = _code_hash(body)
    code_hash = ", ".join(f"0x{byte:02x}" for byte in digest)
    text = (
        "/* The kernels of one model, each with the shapes it is called with. Made by Kiln. */\n"
        f'#include "kiln.h"\n#include "kernel.h"\n{body}\n'
        "extern const kiln_code kiln_model_code;\n"
        f"const kiln_code kiln_model_code = {{kernels, {len(functions)}, {{{code_hash}}}}};\n"
    )
    return KernelCode(text, tuple(order), digest)


def header_closure(includes: Iterable[str]) -> list[Path]:
    """The headers named, and all that they include, in a fixed order."""
    found: dict[Path, None] = {}
    waiting = [TARGETS / name for name in includes]
    waiting.append(RUNTIME / "kernel.h")
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found[path] = None
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            waiting.extend((path.parent / name, TARGETS / name, RUNTIME / name))
    return sorted(found)


def _code_hash(body: str) -> bytes:
    digest = hashlib.sha256(body.encode())
    for path in header_closure(INCLUDE.findall(body)):
        digest.update(path.read_bytes())
    return digest.digest()[:16]
