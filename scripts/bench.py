"""Times Kiln against LiteRT, ONNX Runtime, OpenVINO and ncnn on this machine, in one run.

    python scripts/bench.py
    python scripts/bench.py --models kws,vww --dtype int8 --isa avx2 --json results.json

The peers are installed from PyPI into an environment of their own (.bench-venv). Each
participant is a process that holds one loaded model, all pinned to the same CPU (`--threads N`:
to N of them). They are asked for samples in turn; a sample is about a millisecond of inferences in
a row, warmed up before, and is taken again where the system gave the CPU to somebody else.
Reported are the median of the samples and the distance of their quartiles.

Kiln is timed by the clock of a C program that calls `kiln_run`; the peers by a loop around the
cheapest call of their Python interface (LiteRT `invoke`, ONNX Runtime with inputs and outputs
bound, OpenVINO `start_async` and `wait` on set tensors, an ncnn extractor). The model `empty`, of
16 multiplications, shows what that call costs: subtract it to compare engines only.

All have random weights: int8 is the same file for Kiln and LiteRT (a real one for MLPerf Tiny),
and a network of the same shape, quantized by onnxruntime's quantizer, for ONNX Runtime and
OpenVINO. Files are a peer's mapped shared libraries and its model; the time to the first result
begins after `import`; memory is what the process grew by since before `import`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from host_bench import kiln, report
from host_bench.networks import NETWORKS
from host_bench.participants import Participant, race

from compiler import files
from compiler.errors import KilnError
from compiler.options import BuildOptions

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ai-edge-litert", "onnxruntime", "openvino", "ncnn", "onnx", "numpy")
MODELS = (*NETWORKS, "transformer")
REAL_FILES = {
    "kws": "kws_dscnn_int8.tflite", "vww": "vww_mobilenetv1_025_int8.tflite",
    "ic": "ic_resnet8_int8.tflite", "ad": "ad_autoencoder_int8.tflite",
}  # fmt: skip
ENDINGS = {
    ("litert", "int8"): "int8.tflite", ("litert", "float32"): "tflite",
    ("onnxruntime", "int8"): "qdq.onnx", ("onnxruntime", "float32"): "onnx",
    ("openvino", "int8"): "qdq.onnx", ("openvino", "float32"): "onnx",
    ("ncnn", "float32"): "param",
}  # fmt: skip
NOTES = (
    "ncnn is timed in float32 only: the tools that quantize for it are not on PyPI.",
    "LiteRT reads no ONNX, so it is missing at the transformer.",
)
AVX2_NOTE = (
    "isa avx2: Kiln by its target, OpenVINO by ONEDNN_MAX_CPU_ISA; LiteRT, ONNX Runtime and ncnn "
    "have no such switch and use all of the CPU."
)


def peers_python() -> Path:
    """The interpreter of .bench-venv, made and filled when it is not there."""
    folder = ROOT / ".bench-venv"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        print(f"installing the peers into {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
        (folder / "complete").touch()
    return python


def kiln_model(name: str, dtype: str, models: Path) -> tuple[Path, BuildOptions]:
    """The file that Kiln compiles, and how."""
    if name == "transformer":
        source = models / "transformer.onnx"
        return source, BuildOptions(quantize="int8" if dtype == "int8" else "none")
    return tflite_model(name, dtype, models), BuildOptions()


def tflite_model(name: str, dtype: str, models: Path) -> Path:
    if dtype == "int8" and name in REAL_FILES:
        import zoo

        try:
            return zoo.model(REAL_FILES[name])
        except zoo.ZooError as error:
            print(f"{error}; a network of the same shape instead", file=sys.stderr)
    return models / f"{name}.{ENDINGS['litert', dtype]}"


class Bench:
    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.arguments, self.folder = arguments, folder
        self.python = peers_python()
        self.models = ROOT / ".bench-venv" / "models"
        self.models.mkdir(exist_ok=True)
        usable = sorted(os.sched_getaffinity(0))
        self.cpus = frozenset(usable[-arguments.threads :])

    def participant(self, name: str, command: list[str]) -> Participant:
        limits = {"ONEDNN_MAX_CPU_ISA": "AVX2"} if self.arguments.isa == "avx2" else {}
        return Participant(name, command, limits, self.cpus)

    def row(self, name: str, dtype: str) -> dict[str, Any]:
        folder = self.folder / f"{name}-{dtype}"
        folder.mkdir()
        participants, failed, program = [], {}, None
        try:
            model, options = kiln_model(name, dtype, self.models)
            program = kiln.build(model, folder, self.arguments.isa, options)
            participants.append(self.participant("kiln", [str(program)]))
        except KilnError as error:
            failed["kiln"] = {"error": f"kiln: {error}"}
        worker = str(ROOT / "scripts" / "host_bench" / "worker.py")
        for (peer, kind), ending in ENDINGS.items():
            if kind != dtype or peer not in self.arguments.peers:
                continue
            file = self.models / f"{name}.{ending}"
            if peer == "litert":
                file = tflite_model(name, dtype, self.models)
            if file.exists():
                command = [str(self.python), worker, peer, str(file), str(len(self.cpus))]
                participants.append(self.participant(peer, command))
        times = race(participants, self.arguments.runs)
        if program is not None and "us" in times.get("kiln", {}):
            times["kiln"]["files_kb"] = program.stat().st_size // 1024
        macs = int((self.models / f"{name}.macs").read_text())
        return {"model": name, "dtype": dtype, "macs": macs, "times": times | failed}

    def run(self) -> dict[str, Any]:
        names, isa = self.arguments.models, self.arguments.isa
        maker = str(ROOT / "scripts" / "host_bench" / "files.py")
        subprocess.run([str(self.python), maker, str(self.models), *names], check=True)
        peak = kiln.measure_peak(self.folder, isa)
        rows = []
        for dtype in self.arguments.dtype:
            for name in names:
                rows.append(self.row(name, dtype))
                gain = report.ratio(rows[-1])
                print(f"{name} {dtype}: {gain and round(gain, 2)}x", file=sys.stderr, flush=True)
        return {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S"), "cpu": cpu_name(), "isa": isa,
            "kiln_target": kiln.target_of(isa), "threads": self.arguments.threads, "peak": peak,
            "rows": rows, "notes": [*NOTES, *([AVX2_NOTE] if isa == "avx2" else [])],
        }  # fmt: skip


def cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "unknown")


def names(allowed: tuple[str, ...]) -> Any:
    def parse(text: str) -> list[str]:
        chosen = text.split(",")
        for name in chosen:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(allowed)}")
        return chosen

    return parse


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = ", ".join(MODELS)
    parser.add_argument("--models", type=names(MODELS), default=list(MODELS), help=known)
    parser.add_argument("--dtype", type=names(("int8", "float32")), default=["int8", "float32"])
    peers = report.PARTICIPANTS[1:]
    parser.add_argument("--peers", type=names(peers), default=list(peers), help=", ".join(peers))
    parser.add_argument("--isa", choices=("native", "avx2"), default="native")
    parser.add_argument("--threads", type=int, default=1, help="CPUs and threads of the peers")
    parser.add_argument("--runs", type=int, default=30, help="samples of each participant")
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument("--html", type=Path, help="file for the plot")
    arguments = parser.parse_args()
    from rich.console import Console

    with tempfile.TemporaryDirectory(prefix="kiln-bench-") as folder:
        results = Bench(arguments, Path(folder)).run()
    if arguments.json:
        files.write_json(arguments.json, results)
    if arguments.html:
        files.write_text(arguments.html, report.page(results))
    console = Console()
    Console(width=max(console.width, 120)).print(report.tables(results))


if __name__ == "__main__":
    main()
