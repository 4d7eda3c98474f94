"""Random ONNX graphs of 5 to 40 nodes, valid by construction, against ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from onnx import helper

from tests.importers.onnx_models import compare, make_model, run_onnxruntime

Shape = tuple[int, ...]
SEEDS = st.integers(0, 2**32 - 1)
UNARY = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "HardSwish", "Softplus", "Erf", "Elu")
BINARY = ("Add", "Sub", "Mul", "Max", "Min")
REDUCTIONS = ("ReduceMean", "ReduceMax", "ReduceMin")
LARGEST = 4000  # elements
LEAST = 1e-3  # of what is compared


@dataclass
class RandomGraph:
    """Grows one float graph; every tensor's shape is known."""

    random: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def choice(self, values: tuple[str, ...]) -> str:
        return values[self.number(0, len(values) - 1)]

    def pick(self, least_rank: int = 0) -> str | None:
        """A tensor, the newest ones most often."""
        fitting = [name for name, shape in self.shapes.items() if len(shape) >= least_rank]
        if not fitting:
            return None
        return fitting[-min(int(self.random.geometric(0.4)), len(fitting))]

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def noise(self, *shape: int) -> str:
        return self.constant(self.random.normal(0, 0.5, shape).astype(np.float32))

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def add(self, kind: str, inputs: list[str], shape: Shape, **attributes: object) -> None:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        self.shapes[name] = shape

    def step(self) -> None:
        """Try to add one node."""
        kinds = (
            self.unary, self.binary, self.convolution, self.matrix, self.pool, self.reduce,
            self.transpose, self.reshape, self.concat, self.slice, self.pad, self.softmax,
        )  # fmt: skip
        kinds[self.number(0, len(kinds) - 1)]()

    def unary(self) -> None:
        if (x := self.pick()) is not None:
            self.add(self.choice(UNARY), [x], self.shapes[x])

    def binary(self) -> None:
        if (x := self.pick()) is None:
            return
        shape = self.shapes[x]
        same = tuple(name for name, other in self.shapes.items() if other == shape)
        sizes = [size if self.number(0, 1) else 1 for size in shape]
        other = (
            self.choice(same)
            if self.number(0, 2)
            else self.noise(*sizes[self.number(0, len(sizes)) :])
        )
        pair = [x, other] if self.number(0, 1) else [other, x]
        self.add(self.choice(BINARY), pair, shape)

    def convolution(self) -> None:
        if (x := self.pick(4)) is None or len(self.shapes[x]) != 4:
            return
        batch, channels, height, width = self.shapes[x]
        kernel, strides = (
            (self.number(1, 3), self.number(1, 3)),
            (self.number(1, 2), self.number(1, 2)),
        )
        pads = [self.number(0, 2) for _ in range(4)]
        groups = channels if self.number(0, 2) == 0 else 1
        outputs = groups * self.number(1, 2) if groups > 1 else self.number(1, 6)
        size = [
            (extent + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1
            for i, extent in enumerate((height, width))
        ]
        if min(size) < 1:
            return
        inputs = [x, self.noise(outputs, channels // groups, *kernel)]
        inputs += [self.noise(outputs)] if self.number(0, 1) else []
        self.add(
            "Conv", inputs, (batch, outputs, *size), pads=pads, strides=list(strides), group=groups
        )

    def matrix(self) -> None:
        if (x := self.pick(2)) is None:
            return
        shape = self.shapes[x]
        columns = self.number(1, 7)
        self.add("MatMul", [x, self.noise(shape[-1], columns)], (*shape[:-1], columns))

    def pool(self) -> None:
        if (x := self.pick(4)) is None or len(self.shapes[x]) != 4:
            return
        batch, channels, height, width = self.shapes[x]
        kernel = [min(self.number(1, 3), height), min(self.number(1, 3), width)]
        size = [extent - k + 1 for extent, k in zip((height, width), kernel, strict=True)]
        kind = self.choice(("MaxPool", "AveragePool"))
        self.add(kind, [x], (batch, channels, *size), kernel_shape=kernel)

    def reduce(self) -> None:
        if (x := self.pick(1)) is None:
            return
        axis, keep = self.number(0, len(self.shapes[x]) - 1), self.number(0, 1)
        shape = list(self.shapes[x])
        shape[axis : axis + 1] = [1] if keep else []
        self.add(self.choice(REDUCTIONS), [x, self.integers(axis)], tuple(shape), keepdims=keep)

    def transpose(self) -> None:
        if (x := self.pick(2)) is None:
            return
        order = self.random.permutation(len(self.shapes[x])).tolist()
        self.add("Transpose", [x], tuple(self.shapes[x][axis] for axis in order), perm=order)

    def reshape(self) -> None:
        if (x := self.pick()) is None:
            return
        rest = int(np.prod(self.shapes[x]))
        shape = []
        for _ in range(self.number(0, 3)):
            divisors = [d for d in range(1, 9) if rest % d == 0]
            shape.append(divisors[self.number(0, len(divisors) - 1)])
            rest //= shape[-1]
        shape.append(rest)
        self.add("Reshape", [x, self.integers(*shape)], tuple(shape))

    def concat(self) -> None:
        if (x := self.pick(1)) is None:
            return
        shape = self.shapes[x]
        axis = self.number(0, len(shape) - 1)
        same = tuple(name for name, other in self.shapes.items() if other == shape)
        parts = [self.choice(same) for _ in range(self.number(1, 3))]
        if len(parts) * np.prod(shape) < LARGEST:
            total = (*shape[:axis], shape[axis] * len(parts), *shape[axis + 1 :])
            self.add("Concat", parts, total, axis=axis)

    def slice(self) -> None:
        if (x := self.pick(1)) is None:
            return
        shape = self.shapes[x]
        axis = self.number(0, len(shape) - 1)
        start, step = self.number(0, shape[axis] - 1), self.number(1, 2)
        count = -(-(shape[axis] - start) // step)
        operands = [self.integers(v) for v in (start, shape[axis], axis, step)]
        self.add("Slice", [x, *operands], (*shape[:axis], count, *shape[axis + 1 :]))

    def pad(self) -> None:
        if (x := self.pick(1)) is None:
            return
        shape = self.shapes[x]
        before, after = ([self.number(0, 1) for _ in shape] for _ in range(2))
        total = tuple(map(sum, zip(shape, before, after, strict=True)))
        if np.prod(total) < LARGEST:
            self.add("Pad", [x, self.integers(*before, *after)], total)

    def softmax(self) -> None:
        if (x := self.pick(1)) is not None:
            self.add("Softmax", [x], self.shapes[x], axis=self.number(0, len(self.shapes[x]) - 1))


def check_random(seed: int, path: Path) -> None:
    g = RandomGraph(np.random.default_rng(seed))
    inputs: dict[str, np.ndarray] = {}
    for name in ("x", "z")[: g.number(1, 2)]:
        sizes = (g.number(1, 2), *(g.number(1, 7) for _ in range(3)))[: max(1, 5 - g.number(1, 4))]
        inputs[name] = g.random.normal(0, 1, sizes).astype(np.float32)
        g.shapes[name] = sizes
    wanted = g.number(5, 40)
    while len(g.nodes) < wanted:
        g.step()
    read = {name for node in g.nodes for name in node.input}
    outputs = [
        node.output[0] for node in g.nodes if node.output[0] not in read or g.number(0, 9) == 0
    ]
    used = {name: value for name, value in inputs.items() if name in read}
    expected = run_onnxruntime(make_model(g.nodes, used, g.constants, outputs), used)
    pairs = zip(outputs, expected, strict=True)
    # Smaller ones are what cancellation left over of numbers near 1, in ONNX Runtime as well.
    outputs = [name for name, value in pairs if np.abs(value).max() > LEAST]
    if outputs:
        compare(path, make_model(g.nodes, used, g.constants, outputs), used)


@example(seed=86)  # arithmetic of scalars
@given(seed=SEEDS)
@settings(
    max_examples=15, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
def test_random_graphs(seed: int, tmp_path: Path) -> None:
    check_random(seed, tmp_path / "m.onnx")


@pytest.mark.slow
@given(seed=SEEDS)
@settings(
    max_examples=500, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
def test_many_random_graphs(seed: int, tmp_path: Path) -> None:
    check_random(seed, tmp_path / "m.onnx")
