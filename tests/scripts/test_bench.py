"""The host benchmark: its networks, its way of timing, and what it makes of the figures."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from host_bench import kiln, ncnn_file, participants, report, tflite_file
from host_bench.networks import NETWORKS

from compiler import api
from compiler.importers.tflite.schema import schema
from compiler.options import BuildOptions


@pytest.mark.parametrize(
    "name, mega_macs",
    [("kws", 2.66), ("vww", 7.49), ("ic", 12.5), ("ad", 0.264), ("mobilenetv2", 301)],
)
def test_networks_have_the_known_size(name: str, mega_macs: float) -> None:
    assert NETWORKS[name]().macs / 1e6 == pytest.approx(mega_macs, rel=0.01)


@pytest.mark.parametrize("int8", [False, True])
def test_written_files_mean_to_litert_what_they_mean_to_kiln(tmp_path: Path, int8: bool) -> None:
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    path = tmp_path / "ic.tflite"
    tflite_file.write_network(NETWORKS["ic"](), path, schema(), int8)
    judge = interpreter.Interpreter(
        model_path=str(path),
        experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_REF,
    )
    judge.allocate_tensors()
    given, made = judge.get_input_details()[0], judge.get_output_details()[0]
    real = np.random.default_rng(0).normal(0, 1, given["shape"])
    value = np.clip(np.rint(real * 16), -128, 127).astype(np.int8) if int8 else real.astype("f4")
    judge.set_tensor(given["index"], value)
    judge.invoke()
    outputs = api.simulate(path, {"input": value}).outputs
    np.testing.assert_allclose(
        outputs[made["name"]], judge.get_tensor(made["index"]), atol=0 if int8 else 1e-4
    )


def test_ncnn_blobs_have_one_reader_each(tmp_path: Path) -> None:
    ncnn_file.write_network(NETWORKS["ic"](), tmp_path / "ic.param")
    lines = (tmp_path / "ic.param").read_text().splitlines()[2:]
    read = [name for line in lines for name in line.split()[4 : 4 + int(line.split()[2])]]
    assert len(read) == len(set(read))
    assert (tmp_path / "ic.bin").stat().st_size > 4 * 77000


def test_kiln_is_timed_in_its_own_process(tmp_path: Path) -> None:
    tflite_file.write_network(NETWORKS["empty"](), tmp_path / "m.tflite", schema(), True)
    program = kiln.build(tmp_path / "m.tflite", tmp_path, "native", BuildOptions())
    cpus = frozenset(os.sched_getaffinity(0))
    one = participants.Participant("kiln", [str(program)], {}, cpus)
    missing = participants.Participant("gone", [sys.executable, "-c", "raise Oops"], {}, cpus)
    results = participants.race([one, missing], samples=3)
    assert 0 < results["kiln"]["us"] < 1000 and results["kiln"]["samples"] == 3
    assert "Oops" in results["gone"]["error"]


def _row(model: str, dtype: str, **times: float) -> dict[str, object]:
    return {
        "model": model, "dtype": dtype, "macs": 1000000,
        "times": {
            name: {"us": us, "spread": 0.1, "start_ms": 1.0, "memory_kb": 10, "files_kb": 5}
            for name, us in times.items()
        },
    }  # fmt: skip


def test_figures_are_against_the_fastest_peer() -> None:
    rows = [_row("kws", "int8", kiln=10, litert=20, ncnn=90), _row("ic", "int8", kiln=8, litert=4)]
    results = {
        "rows": rows, "peak": {"int8": 500.0, "float32": 100.0}, "isa": "native", "threads": 1,
        "notes": ["a <note>"], "cpu": "some",
    }  # fmt: skip
    assert report.fastest_peer(rows[0]) == "litert"
    assert report.ratio(rows[0]) == 2
    assert report.share_of_peak(rows[0], results["peak"]) == pytest.approx(0.2)  # type: ignore[arg-type]
    assert report.geometric_mean(results, "int8") == pytest.approx(1)
    assert report.geometric_mean(results, "float32") is None
    assert "a &lt;note&gt;" in report.page(results) and report.page(results).count("<rect") == 5
    assert report.tables(results) is not None
