"""Runs a graph on this machine by the compiled kernels of its board ``host``, in this process.

Much faster than the numpy simulator, and the same integers: every kernel is exact. Floats differ
by rounding only.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compiler import files
from compiler.board import load_board
from compiler.device.toolchains import Toolchain, find_toolchain
from compiler.emit import emit
from compiler.errors import ModelError, ToolError
from compiler.graph import Graph, Shape
from compiler.paths import RUNTIME, TARGETS
from compiler.plan import plan
from compiler.scheduler import make_schedule
from compiler.target import target_chain

Observer = Callable[[str, np.ndarray], None]

_RUNTIME_SOURCES = ("kiln.c", "validate.c", "status.c", "crc32.c")
_FLAGS = ("-std=c99", "-O3", "-shared", "-fPIC", "-w", "-ffp-contract=off", "-fno-math-errno",
          "-fno-trapping-math")  # fmt: skip
_COMPILE_SECONDS = 1800
_MODEL_BYTES = 128  # at least sizeof(kiln_model)
_ALIGNMENT = 64


@dataclass(frozen=True)
class _Interface:
    """An input or output: its place in the runtime's list is its place here."""

    name: str
    shape: Shape
    dtype: str


@dataclass(frozen=True, eq=False)
class NativeProgram:
    """A compiled graph as plain data: it may be sent to another process or machine."""

    code: str
    blob: bytes
    arena_bytes: int
    cflags: tuple[str, ...]
    inputs: tuple[_Interface, ...]
    outputs: tuple[_Interface, ...]
    wanted: tuple[str, ...]  # the graph's own outputs; the others are only observed


def compile_graph(graph: Graph, observed: Collection[str] = ()) -> NativeProgram:
    """``graph`` for this machine; the tensors ``observed`` keep their values until the end.

    Raises UnsupportedError where an operator has no kernel.
    """
    extra = [name for name in observed if name not in graph.outputs and name not in graph.inputs]
    chain = target_chain(load_board("host").target)
    schedule = make_schedule(graph.replace(outputs=(*graph.outputs, *extra)), chain)
    planned = plan(schedule)
    emitted = emit(planned, shared=False)
    return NativeProgram(
        code=emitted.code.text,
        blob=emitted.blob,
        arena_bytes=planned.arena_bytes,
        cflags=tuple(flag for target in reversed(chain) for flag in target.cflags),
        inputs=tuple(_interface(schedule.graph, name) for name in schedule.graph.inputs),
        outputs=tuple(_interface(schedule.graph, name) for name in schedule.graph.outputs),
        wanted=graph.outputs,
    )


def _interface(graph: Graph, name: str) -> _Interface:
    tensor = graph.tensors[name]
    return _Interface(name, tensor.shape, tensor.dtype)


class _Tensor(ctypes.Structure):
    """``kiln_tensor`` of runtime/kiln.h."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("bytes", ctypes.c_uint32),
        ("dtype", ctypes.c_int), ("rank", ctypes.c_uint32), ("shape", ctypes.c_uint32 * 8),
        ("scale", ctypes.c_float), ("zero_point", ctypes.c_int32),
    )  # fmt: skip


class NativeModel:
    """A loaded program; like `Simulator`, state tensors keep their values until `reset`.

    Raises ToolError where there is no C compiler, or it fails.
    """

    def __init__(self, program: NativeProgram) -> None:
        self.program = program
        self._library = ctypes.CDLL(str(_library(program)))
        self._blob = _aligned(len(program.blob))
        self._blob[:] = np.frombuffer(program.blob, np.uint8)
        self._arena = _aligned(max(program.arena_bytes, 1))
        self._model = ctypes.create_string_buffer(_MODEL_BYTES)
        code = ctypes.c_byte.in_dll(self._library, "kiln_model_code")
        self._call(
            "kiln_load", ctypes.byref(code),
            ctypes.c_void_p(self._blob.ctypes.data), ctypes.c_size_t(self._blob.nbytes),
            ctypes.c_void_p(self._arena.ctypes.data), ctypes.c_size_t(self._arena.nbytes),
        )  # fmt: skip
        self._inputs = [
            self._array("kiln_input", i, each) for i, each in enumerate(program.inputs)
        ]
        self._outputs = [
            self._array("kiln_output", i, each) for i, each in enumerate(program.outputs)
        ]

    def _call(self, function: str, *arguments: object) -> None:
        status = getattr(self._library, function)(self._model, *arguments)
        if status != 0:
            raise ModelError(f"the model compiled for this machine: {function} failed ({status})")

    def _array(self, function: str, index: int, what: _Interface) -> np.ndarray:
        """The tensor's memory in the arena, as an array."""
        tensor = _Tensor()
        self._call(function, ctypes.c_uint32(index), ctypes.byref(tensor))
        start = (tensor.data or 0) - self._arena.ctypes.data
        raw = self._arena[start : start + tensor.bytes]
        return raw.view(what.dtype).reshape(what.shape)

    def reset(self) -> None:
        """Give every state tensor its initial value."""
        self._call("kiln_reset")

    def run(
        self, inputs: Mapping[str, np.ndarray], observe: Observer | None = None
    ) -> dict[str, np.ndarray]:
        """One inference; ``observe(name, value)`` is shown the tensors that are observed.

        What ``observe`` gets is the arena itself, good until the next run.
        """
        for what, memory in zip(self.program.inputs, self._inputs, strict=True):
            if what.name not in inputs:
                raise ModelError(f"input '{what.name}' is missing")
            value = np.asarray(inputs[what.name])
            if value.shape != what.shape or value.dtype != memory.dtype:
                raise ModelError(
                    f"tensor '{what.name}': given as {value.dtype}{list(value.shape)}, not "
                    f"{what.dtype}{list(what.shape)}"
                )
            memory[...] = value
        self._call("kiln_run")
        results: dict[str, np.ndarray] = {}
        for what, memory in zip(self.program.outputs, self._outputs, strict=True):
            if observe is not None:
                observe(what.name, memory)
            if what.name in self.program.wanted:
                results[what.name] = memory.copy()
        return results


def _aligned(count: int) -> np.ndarray:
    """Zeroed bytes that start at a multiple of _ALIGNMENT."""
    raw = np.zeros(count + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + count]


def cache_folder() -> Path:
    """Compiled programs: ``$KILN_CACHE/native``, or ``~/.cache/kiln/native``."""
    base = os.environ.get("KILN_CACHE")
    return (Path(base) if base else Path.home() / ".cache" / "kiln") / "native"


def _library(program: NativeProgram) -> Path:
    """The shared library of the program's code, compiled unless it was before."""
    toolchain = find_toolchain(load_board("host"))
    flags = (*toolchain.compile_flags, *toolchain.known(program.cflags), *_FLAGS)
    key = repr((program.code, flags, toolchain.command, toolchain.version, os.uname().machine))
    digest = hashlib.sha256(key.encode())
    for name in _RUNTIME_SOURCES:
        digest.update((RUNTIME / name).read_bytes())
    path = cache_folder() / f"{digest.hexdigest()[:32]}.so"
    if not path.is_file():
        _compile(toolchain, flags, program.code, path)
    return path


def _compile(toolchain: Toolchain, flags: tuple[str, ...], code: str, path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="kiln-native-") as folder:
        source, library = Path(folder, "model_kernels.c"), Path(folder, "model.so")
        source.write_text(code, encoding="utf-8")
        sources = [str(RUNTIME / name) for name in _RUNTIME_SOURCES]
        includes = [f"-I{RUNTIME}", f"-I{TARGETS}"]
        command = [*toolchain.command, *flags, *includes, str(source), *sources]
        try:
            done = subprocess.run(
                [*command, "-o", str(library)], stdin=subprocess.DEVNULL, capture_output=True,
                text=True, timeout=_COMPILE_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ToolError(f"'{toolchain.command[0]}' failed: {error}") from None
        if done.returncode != 0:
            said = (done.stderr.strip() or "no message").splitlines()[0]
            raise ToolError(f"compiling the model for this machine: {said}")
        files.write_bytes(path, library.read_bytes(), 0o755)
