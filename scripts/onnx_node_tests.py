"""Runs the ONNX project's own node tests through the importer and the simulator, as a table.

    python scripts/onnx_node_tests.py               the table: passed, failed, unsupported
    python scripts/onnx_node_tests.py --list failed  the tests behind one column
    python scripts/onnx_node_tests.py FOLDER         from onnx/backend/test/data/node elsewhere

The tests lie in the onnx wheel up to 1.19. An input that Kiln needs at compile time (a shape, a
list of axes) is made constant; the table counts such tests apart.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from compiler.errors import KilnError, UnsupportedError
from compiler.graph import Graph
from compiler.importers.onnx_model import read_onnx
from compiler.loading import load_builtins

Arrays = dict[str, np.ndarray]
Simulate = Callable[[Graph, Mapping[str, np.ndarray]], Mapping[str, np.ndarray]]

#: Largest error relative to the range of the expected output; of float16 its own resolution.
TOLERANCE = {"float16": 2e-3, "float32": 1e-4, "float64": 1e-4}


@dataclass(frozen=True)
class Outcome:
    """``verdict`` is "passed", "passed baked", "unsupported" or "failed"."""

    name: str
    operator: str
    verdict: str
    detail: str = ""


def data_folder() -> Path:
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"


def _arrays(folder: Path, prefix: str) -> list[np.ndarray]:
    paths = sorted(folder.glob(f"{prefix}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(str(path))) for path in paths]


def _bake(model: onnx.ModelProto, inputs: Arrays, keep: str) -> onnx.ModelProto:
    """The model with every input but ``keep`` as an initialiser."""
    baked = onnx.ModelProto()
    baked.CopyFrom(model)
    for name, value in inputs.items():
        if name != keep:
            baked.graph.initializer.append(numpy_helper.from_array(value, name))
    return baked


def compare(actual: np.ndarray, expected: np.ndarray) -> str:
    """Empty if equal (floats within TOLERANCE of the range), else what differs."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype}{list(actual.shape)} is not {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind != "f":
        wrong = int(np.count_nonzero(actual != expected))
        return f"{wrong} of {expected.size} differ" if wrong else ""
    finite = np.isfinite(expected)
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return "infinities or NaN differ"
    span = float(np.ptp(expected[finite])) if finite.any() else 0.0
    error = float(np.max(np.abs(actual - expected)[finite], initial=0.0))
    largest = float(np.max(np.abs(expected[finite]), initial=1e-6))
    limit = TOLERANCE[expected.dtype.name] * max(span, largest)
    return f"error {error:.3g} in a range of {span:.3g}" if not error <= limit else ""


def evaluate(folder: Path, scratch: Path, simulate: Simulate) -> Outcome:
    """One test; ``scratch`` is a file that may be overwritten."""
    model = onnx.load(str(folder / "model.onnx"))
    operator = model.graph.node[0].op_type if model.graph.node else "?"
    try:
        data = folder / "test_data_set_0"
        values, expected = _arrays(data, "input"), _arrays(data, "output")
    except (TypeError, ValueError, AttributeError) as error:
        return Outcome(folder.name, operator, "unsupported", f"not tensors: {error}")
    inputs = {v.name: a for v, a in zip(model.graph.input, values, strict=False)}
    if any(value.size == 0 for value in values):
        return Outcome(folder.name, operator, "unsupported", "a tensor without elements")
    verdict = "passed"
    try:
        graph = _read(model, scratch)
        if graph is None:
            graph = _read(_bake(model, inputs, next(iter(inputs), "")), scratch, last=True)
            verdict = "passed baked"
        assert graph is not None
        results = simulate(graph, {name: inputs[name] for name in graph.inputs})
    except UnsupportedError as error:
        return Outcome(folder.name, operator, "unsupported", str(error).partition(": ")[2])
    except Exception as error:
        return Outcome(folder.name, operator, "failed", repr(error))
    names = [value.name for value in model.graph.output]
    wrong = [compare(results[n], e) for n, e in zip(names, expected, strict=True)]
    detail = "; ".join(filter(None, wrong))
    return Outcome(folder.name, operator, "failed" if detail else verdict, detail)


def _read(model: onnx.ModelProto, scratch: Path, last: bool = False) -> Graph | None:
    scratch.write_bytes(model.SerializeToString())
    try:
        return read_onnx(scratch)
    except KilnError as error:
        if last or "run time" not in str(error):
            raise
        return None


def table(outcomes: list[Outcome]) -> str:
    """Tests per operator and verdict, operators without a failure first by name."""
    verdicts = ("passed", "passed baked", "unsupported", "failed")
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        rows[outcome.operator][outcome.verdict] += 1
    lines = [f"{'operator':30}" + "".join(f"{v:>14}" for v in verdicts)]
    for operator, counts in sorted(rows.items()):
        lines.append(f"{operator:30}" + "".join(f"{counts[v]:14}" for v in verdicts))
    total = Counter(outcome.verdict for outcome in outcomes)
    lines.append(f"{'all':30}" + "".join(f"{total[v]:14}" for v in verdicts))
    return "\n".join(lines)


def _simulate(graph: Graph, inputs: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    from compiler.simulator import Simulator

    return Simulator(graph).run(inputs)


def main() -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=data_folder())
    parser.add_argument("--list", metavar="VERDICT", help="print the tests with this verdict")
    arguments = parser.parse_args()
    load_builtins()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary) / "model.onnx"
        folders = sorted(arguments.folder.glob("test_*"))
        outcomes = [evaluate(folder, scratch, _simulate) for folder in folders]
    if arguments.list:
        for outcome in outcomes:
            if outcome.verdict == arguments.list:
                print(f"{outcome.name} ({outcome.operator}): {outcome.detail}")
    else:
        print(table(outcomes))


if __name__ == "__main__":
    main()
