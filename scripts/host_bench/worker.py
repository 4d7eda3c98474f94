"""One peer with one model in a process of its own; runs in the environment of the peers.

    python worker.py PEER MODEL THREADS

On stdin a line per sample: how many inferences it has. On stdout a line of JSON for each: first
``{"start_ms", "memory_kb", "files_kb"}``, then ``{"ns", "interrupted"}`` per inference.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

Run = Callable[[], object]


def litert(model: Path, threads: int) -> Run:
    """XNNPACK, as by default; the signature's own buffers are not touched between runs."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(model), num_threads=threads)
    interpreter.allocate_tensors()
    for tensor in interpreter.get_input_details():
        interpreter.set_tensor(tensor["index"], random_values(tensor["shape"], tensor["dtype"]))
    return interpreter.invoke


def onnxruntime(model: Path, threads: int) -> Run:
    """Inputs and outputs are bound once, so that a run copies nothing."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for tensor in session.get_inputs():
        binding.bind_cpu_input(tensor.name, random_values(tensor.shape, np.float32))
    for tensor in session.get_outputs():
        shape = tensor.shape
        value = ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float32, "cpu")
        binding.bind_ortvalue_output(tensor.name, value)
    return lambda: session.run_with_iobinding(binding)


def openvino(model: Path, threads: int) -> Run:
    import openvino as ov

    settings = {
        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False,
    }  # fmt: skip
    compiled = ov.Core().compile_model(str(model), "CPU", settings)
    request = compiled.create_infer_request()
    for i, port in enumerate(compiled.inputs):
        value = random_values(list(port.shape), np.float32)
        request.set_input_tensor(i, ov.Tensor(value))

    def run() -> object:
        request.start_async()
        return request.wait()

    return run


def ncnn(model: Path, threads: int) -> Run:
    import ncnn as library

    net = library.Net()
    net.opt.num_threads = threads
    net.load_param(str(model))
    net.load_model(str(model.with_suffix(".bin")))
    last = model.read_text().rstrip().splitlines()[-1].split()
    output = next(w for w in reversed(last) if "=" not in w)
    shape = json.loads(model.with_suffix(".json").read_text())
    value = library.Mat(random_values(shape, np.float32))

    def run() -> object:
        extractor = net.create_extractor()
        extractor.input("input", value)
        return extractor.extract(output)

    return run


def random_values(shape: object, dtype: object) -> np.ndarray:
    random = np.random.default_rng(1)
    if np.dtype(dtype).kind == "f":  # type: ignore[call-overload]
        return random.normal(0, 1, shape).astype(dtype)  # type: ignore[call-overload, no-any-return]
    return random.integers(-128, 128, shape).astype(dtype)  # type: ignore[call-overload, no-any-return]


PEERS: dict[str, Callable[[Path, int], Run]] = {
    "litert": litert, "onnxruntime": onnxruntime, "openvino": openvino, "ncnn": ncnn,
}  # fmt: skip


def peak_kb() -> int:
    """Most memory resident so far; getrusage's figure would include the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def library_kb(peer: str) -> int:
    """The shared libraries of the peer that this process has mapped."""
    package = {"litert": "ai_edge_litert"}.get(peer, peer)
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    paths = {line.split()[-1] for line in lines if f"/{package}" in line and ".so" in line}
    return sum(Path(p).stat().st_size for p in paths) // 1024


def sample(run: Run, count: int) -> dict[str, float]:
    """Warm first, as the others ran meanwhile."""
    for _ in range(max(1, count // 4)):
        run()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    start = time.perf_counter_ns()
    for _ in range(count):
        run()
    nanoseconds = (time.perf_counter_ns() - start) / count
    return {
        "ns": nanoseconds,
        "interrupted": resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - before,
    }


def main() -> None:
    peer, model, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    module = {"litert": "ai_edge_litert.interpreter"}.get(peer, peer)
    before = peak_kb()
    __import__(module)
    start = time.perf_counter()
    run = PEERS[peer](model, threads)
    run()
    ready = {
        "start_ms": (time.perf_counter() - start) * 1e3,
        "memory_kb": peak_kb() - before,
        "files_kb": library_kb(peer) + model.stat().st_size // 1024,
    }
    print(json.dumps(ready), flush=True)
    for line in sys.stdin:
        print(json.dumps(sample(run, int(line))), flush=True)


if __name__ == "__main__":
    main()
