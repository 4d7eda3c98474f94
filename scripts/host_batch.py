"""Runs many small models on the host board in few processes: compiled together, by the runtime.

The blob, the kernels and the runtime are those of a build for board ``host``; only the program
around them is shared, since linking one for each model would take longer than all the rest.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compiler.board import load_board
from compiler.device.toolchains import find_toolchain
from compiler.errors import KilnError
from compiler.graph import DTYPE_BYTES
from compiler.options import BuildOptions
from compiler.paths import RUNTIME, TARGETS
from compiler.pipeline import Compiled, compile_model

Arrays = Mapping[str, np.ndarray]

SECONDS_PER_MODEL = 10.0
RUNTIME_SOURCES = ("kiln.c", "validate.c", "crc32.c")

DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kiln.h"

extern const kiln_code *const batch_codes[];

static void *read_all(size_t bytes) {
    void *data = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (data == NULL || fread(data, 1, bytes, stdin) != bytes)
        exit(3);
    return data;
}

/* Per model, on stdin: index, blob bytes, the blob, the inputs; on stdout: index, status, the
 * outputs. */
int main(void) {
    uint32_t head[2];
    while (fread(head, 4, 2, stdin) == 2) {
        void *blob = read_all(head[1]);
        size_t arena_bytes = kiln_arena_bytes(blob, head[1]);
        char *arena = aligned_alloc(64, (arena_bytes + 127) / 64 * 64);
        memset(arena, 0xA5, arena_bytes);
        kiln_model model = {0};
        int32_t status = kiln_load(&model, batch_codes[head[0]], blob, head[1], arena, arena_bytes);
        kiln_tensor tensor;
        if (status == KILN_OK) {
            for (uint32_t i = 0; i < kiln_input_count(&model); i++) {
                kiln_input(&model, i, &tensor);
                if (fread(tensor.data, 1, tensor.bytes, stdin) != tensor.bytes)
                    return 3;
            }
            status = kiln_run(&model);
        }
        fwrite(head, 4, 1, stdout);
        fwrite(&status, 4, 1, stdout);
        for (uint32_t i = 0; status == KILN_OK && i < kiln_output_count(&model); i++) {
            kiln_output(&model, i, &tensor);
            fwrite(tensor.data, 1, tensor.bytes, stdout);
        }
        fflush(stdout);
        if (status != KILN_OK)
            return 4;
        free(arena);
        free(blob);
    }
    return 0;
}
"""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A compiled model and the inputs of one run."""

    compiled: Compiled
    inputs: Arrays

    @classmethod
    def of(cls, path: Path, inputs: Arrays, options: BuildOptions) -> Prepared:
        """Compile for board ``host``. Raises KilnError."""
        return cls(compile_model(path, load_board("host").target, options), inputs)

    @property
    def payload(self) -> bytes:
        blob = self.compiled.emitted.blob
        graph = self.compiled.plan.schedule.graph
        arrays = [np.ascontiguousarray(self.inputs[name]) for name in graph.inputs]
        return struct.pack("<I", len(blob)) + blob + b"".join(a.tobytes() for a in arrays)

    def outputs(self, data: bytes, position: int) -> tuple[dict[str, np.ndarray], int]:
        """The outputs that ``data`` has from ``position`` on, and where they end."""
        graph = self.compiled.plan.schedule.graph
        found = {}
        for name in graph.outputs:
            tensor = graph.tensors[name]
            array = np.frombuffer(data, tensor.dtype, tensor.elements, position)
            found[name] = array.reshape(tensor.shape)
            position += tensor.elements * DTYPE_BYTES[tensor.dtype]
        return found, position


def run_batch(models: Sequence[Prepared], folder: Path) -> list[dict[str, np.ndarray] | str]:
    """The outputs of each model, or what went wrong: it did not compile, crashed or hung."""
    try:
        program = _build(models, folder)
    except KilnError as error:
        return [str(error)] * len(models)
    results: list[dict[str, np.ndarray] | str] = []
    while len(results) < len(models):
        done, failure = _run(program, models, len(results))
        results += done
        if len(results) < len(models):
            results.append(failure)
    return results


def _run(
    program: Path, models: Sequence[Prepared], first: int
) -> tuple[list[dict[str, np.ndarray] | str], str]:
    """Models from ``first`` on until one fails; what became of that one."""
    payload = b"".join(
        struct.pack("<I", index) + model.payload
        for index, model in enumerate(models[first:], first)
    )
    seconds = SECONDS_PER_MODEL + 0.1 * len(models)
    with subprocess.Popen(
        [str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            data, _ = process.communicate(payload, timeout=seconds)
            failure = f"the program ended with {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            data, _ = process.communicate()
            failure = f"no result within {seconds:.0f} s"
    results: list[dict[str, np.ndarray] | str] = []
    position = 0
    for model in models[first:]:
        if position + 8 > len(data):
            return results, failure
        _, status = struct.unpack_from("<Ii", data, position)
        if status:
            return results, f"the runtime's status is {status}"
        try:
            outputs, position = model.outputs(data, position + 8)
        except ValueError:
            return results, failure
        results.append(outputs)
    return results, failure


def _build(models: Sequence[Prepared], folder: Path) -> Path:
    """One program of all models. Raises KilnError with the compiler's first error."""
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "batch.c", folder / "batch"
    source.write_text("\n".join(_source(models)), encoding="utf-8")
    toolchain = find_toolchain(load_board("host"), None)
    flags = [*toolchain.compile_flags, *toolchain.known(models[0].compiled.cflags)]
    flags += ["-O3", "-w", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    command = [*toolchain.command, *flags, f"-I{RUNTIME}", f"-I{TARGETS}", str(source)]
    command += [*(str(RUNTIME / name) for name in RUNTIME_SOURCES), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise KilnError(done.stderr[:500])
    return program


_OWN = re.compile(r"\b(shape_\d+|kernel_\d+|kernels(?!/)|kiln_model_code|\w+__shared_\d+)\b")


def _source(models: Sequence[Prepared]) -> Iterator[str]:
    """The driver and every model's kernels, each with names of its own."""
    yield DRIVER
    for index, model in enumerate(models):
        text = model.compiled.emitted.code.text
        yield _OWN.sub(lambda found, own=index: f"m{own}_{found.group(0)}", text)
    table = ", ".join(f"&m{index}_kiln_model_code" for index in range(len(models)))
    yield f"const kiln_code *const batch_codes[] = {{{table}}};"
