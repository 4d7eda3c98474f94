"""Runs the ONNX project's own node tests on the host board or in the simulator, as a table.

    python scripts/onnx_node_tests.py                 the table, on board host
    python scripts/onnx_node_tests.py --simulate      the same in the simulator, which is quicker
    python scripts/onnx_node_tests.py --list refused  the tests behind one column
    python scripts/onnx_node_tests.py --only test_add the tests whose name starts like that

The tests lie in the onnx wheel up to 1.19. Counted in the last line are those whose inputs are
tensors of static shape in the types that Kiln computes in. An input that the importer asks to be
constant (a shape, a list of axes) is made so; such tests are "passed baked".
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import zoo
from onnx import numpy_helper

from compiler.errors import KilnError
from compiler.graph import Graph
from compiler.loading import load_builtins
from compiler.options import BuildOptions
from compiler.pipeline import lower_model
from compiler.simulator import Simulator

Arrays = dict[str, np.ndarray]

VERDICTS = ("passed", "passed baked", "refused", "disputed", "failed")
#: Largest error relative to the range of the expected output; of float16 its own resolution.
TOLERANCE = {"float16": 2e-3, "float32": 1e-4, "float64": 1e-4}
#: The expected values of this one are written with four decimals.
LENIENT = {"test_averagepool_2d_ceil_last_window_starts_on_pad": 5e-4}
#: -236 became 20 in their expected values, which wrap where QuantizeLinear, by which the operator
#: is defined, saturates. ONNX Runtime saturates too, and agrees with Kiln.
DISPUTED = tuple(
    f"test_qlinearmatmul_{rank}_int8_{dtype}"
    for rank in ("2D", "3D")
    for dtype in ("float16", "float32")
)
#: Element types of inputs that count.
COUNTED = ("FLOAT", "FLOAT16", "INT8", "UINT8", "INT16", "INT32", "INT64", "BOOL")
BATCH = 40  # tests that one program runs
MOST_BAKED = 8


@dataclass(frozen=True)
class Outcome:
    """``verdict`` is one of VERDICTS; ``counts`` whether its inputs are of the kinds that do."""

    name: str
    operator: str
    verdict: str
    detail: str = ""
    counts: bool = True


@dataclass(frozen=True, eq=False)
class NodeTest:
    """One folder; ``inputs`` and ``expected`` are empty where they are not plain tensors."""

    name: str
    model: onnx.ModelProto
    inputs: Arrays
    expected: Arrays
    problem: str = ""

    @classmethod
    def load(cls, folder: Path) -> NodeTest:
        model = onnx.load(str(folder / "model.onnx"))
        data = folder / "test_data_set_0"
        try:
            values, results = _arrays(data, "input"), _arrays(data, "output")
        except (TypeError, ValueError, AttributeError) as error:
            return cls(folder.name, model, {}, {}, f"its data are no tensors: {error}")
        return cls(
            folder.name,
            model,
            {v.name: a for v, a in zip(model.graph.input, values, strict=False)},
            {v.name: a for v, a in zip(model.graph.output, results, strict=True)},
        )

    @property
    def operator(self) -> str:
        """Of what the test is about, also where it is expanded into others."""
        nodes = self.model.graph.node
        return "?" if not nodes else str(nodes[-1 if len(nodes) > 1 else 0].op_type)

    @property
    def counts(self) -> bool:
        return all(map(_is_counted, self.model.graph.input))

    @property
    def options(self) -> BuildOptions:
        """A dimension of 0, which stands for an unknown one elsewhere, is said to be meant."""
        return BuildOptions(shapes={n: a.shape for n, a in self.inputs.items() if 0 in a.shape})

    def outcome(self, verdict: str, detail: str = "") -> Outcome:
        return Outcome(self.name, self.operator, verdict, detail, self.counts)

    def judged(self, verdict: str, results: Mapping[str, np.ndarray] | str) -> Outcome:
        """``verdict`` if the results are right, else "failed"."""
        if isinstance(results, str):
            return self.outcome("failed", results)
        wrong = [
            compare(results[name], wanted, LENIENT.get(self.name))
            for name, wanted in self.expected.items()
        ]
        detail = "; ".join(filter(None, wrong))
        wrong_verdict = "disputed" if self.name in DISPUTED else "failed"
        return self.outcome(wrong_verdict if detail else verdict, detail)


def _is_counted(value: onnx.ValueInfoProto) -> bool:
    tensor = value.type.tensor_type
    return (
        value.type.HasField("tensor_type")
        and onnx.TensorProto.DataType.Name(tensor.elem_type) in COUNTED
        and tensor.HasField("shape")
        and all(dimension.HasField("dim_value") for dimension in tensor.shape.dim)
    )


def data_folder() -> Path:
    """The node tests; newer wheels of onnx have none. Raises ZooError where offline."""
    return zoo.folder("onnx==1.19.1", "onnx/backend/test/data/node")


def _arrays(folder: Path, prefix: str) -> list[np.ndarray]:
    paths = sorted(folder.glob(f"{prefix}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(str(path))) for path in paths]


def compare(actual: np.ndarray, expected: np.ndarray, tolerance: float | None = None) -> str:
    """Empty if equal (floats within TOLERANCE of the range), else what differs."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype}{list(actual.shape)} is not {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind != "f":
        wrong = int(np.count_nonzero(actual != expected))
        return f"{wrong} of {expected.size} differ" if wrong else ""
    finite = np.isfinite(expected)
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return "infinities or NaN differ"
    got, wanted = (array[finite].astype(np.float64) for array in (actual, expected))
    span = float(np.ptp(wanted)) if wanted.size else 0.0
    error = float(np.max(np.abs(got - wanted), initial=0.0))
    tolerance = TOLERANCE[expected.dtype.name] if tolerance is None else tolerance
    limit = tolerance * max(span, float(np.max(np.abs(wanted), initial=1e-6)))
    return f"error {error:.3g} in a range of {span:.3g}" if not error <= limit else ""


_DEMAND = re.compile(r"computed at run time from ('[^;]*'); make it constant")


def bake(test: NodeTest, scratch: Path) -> tuple[Graph, bool]:
    """The graph, with the inputs constant that the importer demands; whether there are any.

    ``scratch`` is the file that was read. Raises KilnError.
    """
    model = onnx.ModelProto()
    model.CopyFrom(test.model)
    for _ in range(MOST_BAKED):
        scratch.write_bytes(model.SerializeToString())
        try:
            return lower_model(scratch, test.options), len(model.graph.initializer) > len(
                test.model.graph.initializer
            )
        except KilnError as error:
            demands = " ".join(_DEMAND.findall(str(error)))
            demanded = set(re.findall("'([^']+)'", demands))
            constant = {initializer.name for initializer in model.graph.initializer}
            wanted = [name for name in test.inputs if name in demanded - constant]
            if not wanted:
                raise
        for name in wanted:
            model.graph.initializer.append(numpy_helper.from_array(test.inputs[name], name))
    raise KilnError("too many inputs to make constant")


def evaluate(folders: Sequence[Path], simulate: bool) -> list[Outcome]:
    """The outcomes of some tests, in any order."""
    load_builtins()
    with tempfile.TemporaryDirectory(prefix="kiln-onnx-") as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = [NodeTest.load(folder) for folder in folders]
        run = _simulated if simulate else _on_host
        return list(run(tests, Path(temporary)))


def _refusal(test: NodeTest, error: Exception) -> Outcome:
    """A KilnError is a refusal, anything else a failure."""
    if isinstance(error, KilnError):
        return test.outcome("refused", str(error).partition(": ")[2] or str(error))
    return test.outcome("failed", repr(error))


def _simulated(tests: Sequence[NodeTest], folder: Path) -> Iterator[Outcome]:
    for test in tests:
        try:
            graph, baked = bake(test, folder / "model.onnx")
            if test.problem:
                raise ValueError(test.problem)
            results = Simulator(graph).run({name: test.inputs[name] for name in graph.inputs})
            yield test.judged("passed baked" if baked else "passed", results)
        except Exception as error:
            yield _refusal(test, error)


def _on_host(tests: Sequence[NodeTest], folder: Path) -> Iterator[Outcome]:
    from host_batch import Prepared, run_batch

    prepared: list[tuple[NodeTest, str, Prepared]] = []
    for test in tests:
        try:
            _, baked = bake(test, folder / "model.onnx")
            if test.problem:
                raise ValueError(test.problem)
            model = Prepared.of(folder / "model.onnx", test.inputs, test.options)
            prepared.append((test, "passed baked" if baked else "passed", model))
        except Exception as error:
            yield _refusal(test, error)
    results = run_batch([model for _, _, model in prepared], folder / "batch")
    for (test, verdict, _), result in zip(prepared, results, strict=True):
        yield test.judged(verdict, result)


def evaluate_all(folders: Sequence[Path], simulate: bool, jobs: int) -> list[Outcome]:
    """Every test, ``jobs`` batches at a time, sorted by name."""
    batches = [folders[start : start + BATCH] for start in range(0, len(folders), BATCH)]
    with ProcessPoolExecutor(jobs) as pool:
        outcomes = [o for batch in pool.map(partial(evaluate, simulate=simulate), batches)
                    for o in batch]  # fmt: skip
    return sorted(outcomes, key=lambda outcome: outcome.name)


def table(outcomes: Sequence[Outcome]) -> str:
    """Tests per operator and verdict; then all, and those that count."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        rows[outcome.operator][outcome.verdict] += 1
    lines = [f"{'operator':30}" + "".join(f"{v:>14}" for v in VERDICTS)]
    for operator, counts in sorted(rows.items()):
        lines.append(f"{operator:30}" + "".join(f"{counts[v]:14}" for v in VERDICTS))
    for label, chosen in (("all", outcomes), ("counted", [o for o in outcomes if o.counts])):
        total = Counter(outcome.verdict for outcome in chosen)
        lines.append(f"{label:30}" + "".join(f"{total[v]:14}" for v in VERDICTS))
    lines.append(f"{pass_rate(outcomes):.1%} of {sum(o.counts for o in outcomes)} counted pass")
    return "\n".join(lines)


def pass_rate(outcomes: Sequence[Outcome]) -> float:
    """Of the tests that count, how many pass."""
    counted = [outcome for outcome in outcomes if outcome.counts]
    return sum(o.verdict.startswith("passed") for o in counted) / max(len(counted), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=data_folder())
    parser.add_argument("--simulate", action="store_true", help="instead of running on the board")
    parser.add_argument("--list", metavar="VERDICT", help="print the tests with this verdict")
    parser.add_argument("--only", metavar="PREFIX", default="test_", help="of the tests' names")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4))
    arguments = parser.parse_args()
    folders = sorted(arguments.folder.glob(f"{arguments.only}*"))
    outcomes = evaluate_all(folders, arguments.simulate, arguments.jobs)
    if arguments.list:
        for outcome in outcomes:
            if outcome.verdict == arguments.list:
                note = "" if outcome.counts else " (not counted)"
                print(f"{outcome.name} ({outcome.operator}){note}: {outcome.detail}")
    else:
        print(table(outcomes))


if __name__ == "__main__":
    main()
