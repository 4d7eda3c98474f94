"""Single operators as graphs, their tensors and random contents, for tests of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from compiler.graph import Graph, Op, OpView, Quantization, Tensor
from tests.support.kernel_harness import Case


def one_op(
    kind: str,
    params: Any,
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor],
    numerics: str = "tflite",
) -> OpView:
    """A graph of one operator, seen from that operator."""
    names = tuple(t.name if t is not None else "" for t in inputs)
    op = Op(kind, f"test_{kind}", names, tuple(t.name for t in outputs), params)
    tensors = {t.name: t for t in (*inputs, *outputs) if t is not None}
    free = tuple(dict.fromkeys(t.name for t in inputs if t is not None and t.data is None))
    graph = Graph("test", tensors, (op,), free, op.outputs, numerics)
    return graph.view(op)


def tensor(
    name: str, shape: Sequence[int], dtype: str, scale: float = 0.0, zero_point: int = 0
) -> Tensor:
    """A tensor of the arena; quantized per tensor where ``scale`` is given."""
    quant = Quantization((scale,), (zero_point,)) if scale else None
    return Tensor(name, tuple(shape), dtype, quant)


def constant(
    name: str,
    data: np.ndarray,
    scale: Sequence[float] | np.ndarray = (),
    zero_point: int = 0,
    axis: int = 0,
) -> Tensor:
    """A constant; quantized per channel along ``axis`` where several scales are given."""
    quant = None
    if len(scale):
        quant = Quantization(
            tuple(float(np.float32(s)) for s in scale), (zero_point,) * len(scale),
            axis if len(scale) > 1 else None,
        )  # fmt: skip
    return Tensor(name, data.shape, str(data.dtype), quant, data)


def values(
    random: np.random.Generator, shape: Sequence[int], dtype: str, extreme: bool = False
) -> np.ndarray:
    """Random numbers over the whole range of ``dtype``, or only its two ends."""
    if dtype in ("float32", "float16"):
        return random.normal(0, 1, shape).astype(dtype)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    info = np.iinfo(dtype)
    if extreme:
        return random.choice(np.array([info.min, info.max], dtype), tuple(shape))
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def with_weights_as_inputs(cases: Iterable[Case]) -> list[Case]:
    """The same cases with weights and bias in the arena, known only when the model runs."""
    changed = []
    for case in cases:
        graph = case.view.graph
        tensors = {name: replace(t, data=None) for name, t in graph.tensors.items()}
        view = graph.replace(tensors=tensors, inputs=tuple(filter(None, case.view.op.inputs)))
        changed.append(replace(case, view=view.view(case.view.op)))
    return fitting(changed)


def fitting(cases: Iterable[Case]) -> list[Case]:
    """The cases that their kernel can do; a kernel that fits none has no grid."""
    kept = [case for case in cases if case.kernel.fits(case.view)]
    assert kept, "the kernel fits no case of the grid"
    return kept
