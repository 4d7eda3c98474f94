"""One operator by LiteRT's reference kernels and by ours: the integers must be the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from compiler.importers import read_model
from compiler.invariants import check_graph
from compiler.loading import load_builtins
from compiler.simulator import Simulator
from tests.support.tflite_builder import Builder, run_litert


@dataclass(frozen=True)
class Spec:
    """A tensor of the operator; ``data`` makes it a constant."""

    shape: tuple[int, ...]
    dtype: str = "int8"
    scale: Any = None
    zero_point: Any = 0
    axis: int = 0
    data: np.ndarray | None = None


@dataclass(frozen=True)
class Case:
    """Operator ``name`` of the schema with its options."""

    name: str
    inputs: Sequence[Spec]
    outputs: Sequence[Spec]
    options: str | None = None
    version: int = 1
    fields: Mapping[str, Any] = field(default_factory=dict)

    def model(self) -> bytes:
        builder = Builder()
        inputs = [self._add(builder, f"in{i}", spec) for i, spec in enumerate(self.inputs)]
        outputs = [self._add(builder, f"out{i}", spec) for i, spec in enumerate(self.outputs)]
        builder.op(self.name, inputs, outputs, self.options, self.version, **self.fields)
        variable = [i for i, spec in zip(inputs, self.inputs, strict=True) if spec.data is None]
        return builder.build(variable, outputs)

    @staticmethod
    def _add(builder: Builder, name: str, spec: Spec) -> int:
        return builder.tensor(
            name, spec.shape, spec.dtype, scale=spec.scale, zero_point=spec.zero_point,
            axis=spec.axis, data=spec.data,
        )  # fmt: skip


def random_values(rng: np.random.Generator, shape: Sequence[int], dtype: str) -> np.ndarray:
    """Full-range 8-bit and 16-bit integers, small other ones, floats in [-3, 3)."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return rng.uniform(-3, 3, shape).astype(kind)
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind.itemsize > 2:
        return rng.integers(-50, 50, shape).astype(kind)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, shape).astype(kind)


def every_value(dtype: str) -> np.ndarray:
    """All 256 values of an 8-bit type; of int16 every 13th, and those at both ends."""
    info = np.iinfo(dtype)
    if info.bits == 8:
        return np.arange(info.min, info.max + 1).astype(dtype)
    ends = [info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max]
    return np.array([*range(info.min, info.max, 13), *ends]).astype(dtype)


def run_optimized(data: bytes, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs by LiteRT's own optimized kernels, without XNNPACK."""
    return run_litert(data, inputs, reference=False)


def compare(
    case: Case,
    folder: Path,
    rng: np.random.Generator,
    values: Sequence[np.ndarray | None] = (),
    run: Callable[..., list[np.ndarray]] = run_litert,
) -> None:
    """Assert that both give the same: integers to the bit, floats to 1e-5 of the range.

    ``values``: of the inputs, where not random.
    """
    load_builtins()
    data = case.model()
    path = folder / "model.tflite"
    path.write_bytes(data)
    graph = read_model(path)
    check_graph(graph)
    given = dict(enumerate(values))
    inputs = {
        f"in{i}": random_values(rng, spec.shape, spec.dtype) if given.get(i) is None else given[i]
        for i, spec in enumerate(case.inputs)
        if spec.data is None
    }
    wanted = run(data, inputs)
    found = Simulator(graph).run(inputs)
    for name, expected in zip(graph.outputs, wanted, strict=True):
        assert found[name].dtype == expected.dtype
        if expected.dtype.kind == "f":
            bound = 1e-5 * max(1.0, float(np.abs(expected).max()))
            np.testing.assert_allclose(found[name], expected, atol=bound, rtol=0)
        else:
            np.testing.assert_array_equal(found[name], expected)
