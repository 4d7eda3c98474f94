"""Times a target's kernels on the layers of known models, on this machine.

    python scripts/bench_kernels.py --target x86_avx --model kws --dtype int8

One C program per run; each figure is the median of many short samples, one thread.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_layers import LAYERS, Layer, view_of

from compiler.emit_c import c_call, c_struct, include_path
from compiler.kernels import Call, Constant, Input, Kernel, Output, Scratch
from compiler.loading import load_builtins
from compiler.paths import RUNTIME, TARGETS
from compiler.registry import count_macs
from compiler.schedule import choose_kernel
from compiler.target import target_chain

SAMPLES = 25
MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    const long most = argc > 2 ? atol(argv[2]) : 1000000;
    FILE *file = fopen(argv[1], "rb");
    for (int i = 0; i < count; i++) {
        void *b[16];
        for (int j = 0; j < 16 && sizes[i][j] >= 0; j++) {
            b[j] = aligned_alloc(64, (size_t)(sizes[i][j] + 127) / 64 * 64);
            if (fread(b[j], 1, (size_t)sizes[i][j], file) != (size_t)sizes[i][j]) return 1;
        }
        long runs = 1;
        if (most > 1) {
            double start = now();
            runs_of[i](b);
            runs_of[i](b);
            runs = (long)(SAMPLE_NS / ((now() - start) / 2 + 1)) + 1;
        }
        for (int s = 0; s < (most > 1 ? SAMPLES : 1); s++) {
            double start = now();
            for (long r = 0; r < runs; r++) runs_of[i](b);
            printf("%d %.2f\n", i, (now() - start) / (double)runs);
        }
    }
    return 0;
}
"""


def buffer_bytes(call: Call, kernel_view: object, buffer: object) -> int:
    if isinstance(buffer, Constant):
        return int(buffer.data.nbytes)
    if isinstance(buffer, Scratch):
        return buffer.bytes
    tensors = kernel_view.inputs if isinstance(buffer, Input) else kernel_view.outputs  # type: ignore[attr-defined]
    return int(tensors[buffer.index].bytes)  # type: ignore[attr-defined]


def contents(view: object, call: Call) -> bytes:
    """The bytes of every buffer; activations are random."""
    random = np.random.default_rng(1)
    chunks = []
    for buffer in call.buffers:
        if isinstance(buffer, Constant):
            chunks.append(np.ascontiguousarray(buffer.data).tobytes())
            continue
        tensor = view.input(0)  # type: ignore[attr-defined]
        size = buffer_bytes(call, view, buffer)
        if isinstance(buffer, Input) and tensor.dtype == "float32":
            chunks.append(random.normal(0, 1, size // 4).astype(np.float32).tobytes())
        elif isinstance(buffer, Output):
            chunks.append(bytes(size))
        else:
            chunks.append(random.integers(0, 256, size).astype(np.uint8).tobytes())
    return b"".join(chunks)


def program(kernels: Sequence[Kernel], calls: Sequence[Call], views: Sequence[object]) -> str:
    chunks = ['#include "kernel.h"']
    chunks += [f'#include "{path}"' for path in dict.fromkeys(map(include_path, kernels))]
    for i, (kernel, call) in enumerate(zip(kernels, calls, strict=True)):
        chunks.append(c_struct(f"shape_{i}", call))
        body = c_call(kernel, call, f"&shape_{i}")
        chunks.append(f"void run_{i}(void *const *b);\nvoid run_{i}(void *const *b) {{ {body} }}")
    sizes = [
        "{" + ", ".join(str(buffer_bytes(c, v, b)) for b in c.buffers) + ", -1}"
        for c, v in zip(calls, views, strict=True)
    ]
    names = ", ".join(f"run_{i}" for i in range(len(calls)))
    chunks.append(f"static void (*const runs_of[])(void *const *) = {{{names}}};")
    chunks.append(f"static const long sizes[][16] = {{{', '.join(sizes)}}};")
    chunks.append(f"static const int count = {len(calls)};")
    return "\n".join(chunks) + MAIN


def measure(layers: Sequence[Layer], arguments: argparse.Namespace) -> list[tuple[Kernel, float]]:
    """The kernel of each layer and its nanoseconds."""
    chain = target_chain(arguments.target)
    names = tuple(t.name for t in chain)
    views = [view_of(layer, arguments.dtype, arguments.numerics) for layer in layers]
    kernels = [choose_kernel(view, names) for view in views]
    calls = [k.call(v) for k, v in zip(kernels, views, strict=True)]
    flags = ["-std=gnu11", "-O3", "-ffp-contract=off", *chain[0].cflags]
    with tempfile.TemporaryDirectory(prefix="kiln-bench-") as name:
        folder = Path(arguments.keep or name)
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / "bench.c"
        source.write_text(program(kernels, calls, views))
        (folder / "buffers.bin").write_bytes(
            b"".join(contents(v, c) for v, c in zip(views, calls, strict=True))
        )
        defines = [f"-DSAMPLES={SAMPLES}", f"-DSAMPLE_NS={arguments.sample_us}e3"]
        binary = str(folder / "bench")
        compiler = [*arguments.compiler.split(), *flags, *defines]
        subprocess.run(
            [*compiler, f"-I{TARGETS}", f"-I{RUNTIME}", str(source), "-o", binary], check=True
        )
        runner = arguments.runner.split()
        done = subprocess.run(
            [*runner, binary, str(folder / "buffers.bin")], check=True, capture_output=True,
            text=True,
        )  # fmt: skip
    samples: list[list[float]] = [[] for _ in layers]
    for line in done.stdout.splitlines():
        index, nanoseconds = line.split()
        samples[int(index)].append(float(nanoseconds))
    return [(k, statistics.median(s)) for k, s in zip(kernels, samples, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="x86_avx")
    parser.add_argument("--dtype", default="int8", choices=("int8", "float32"))
    parser.add_argument("--numerics", default="tflite", choices=("tflite", "fast"))
    parser.add_argument("--model", default="", help="kws, ic, vww, ad or mnv2; default all")
    parser.add_argument("--op", default="", help="conv2d, depthwise_conv2d or fully_connected")
    parser.add_argument("--compiler", default="gcc", help="command of the C compiler")
    parser.add_argument("--runner", default="", help="command that the program is run by")
    parser.add_argument("--peak", type=float, default=0.0, help="GMAC/s, to print the share of it")
    parser.add_argument("--sample-us", type=int, default=300)
    parser.add_argument("--keep", default="", help="folder to leave the program in")
    arguments = parser.parse_args()
    load_builtins()
    if shutil.which(arguments.compiler.split()[0]) is None:
        parser.error(f"compiler '{arguments.compiler}' not found")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    layers = [
        layer for layer in LAYERS
        if arguments.model in ("", layer.model) and arguments.op in ("", layer.op)
    ]  # fmt: skip
    total_ns = total_macs = 0.0
    for layer, (kernel, nanoseconds) in zip(layers, measure(layers, arguments), strict=True):
        view = view_of(layer, arguments.dtype, arguments.numerics)
        macs = count_macs(view) or view.input(0).elements
        total_ns += nanoseconds * layer.count
        total_macs += macs * layer.count
        share = f" {macs / nanoseconds / arguments.peak:5.0%}" if arguments.peak else ""
        print(
            f"{layer!s:42} x{layer.count} {kernel.name:36} {macs / 1e6:8.3f} MMAC "
            f"{nanoseconds / 1e3:9.2f} us {macs / nanoseconds:7.1f} GMAC/s{share}"
        )
    print(f"total {total_ns / 1e3:.1f} us, {total_macs / total_ns:.1f} GMAC/s")


if __name__ == "__main__":
    main()
