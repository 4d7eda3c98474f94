"""Reads and writes at computed indices, of every type, against the reference attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from compiler.graph import OpView, Tensor
from compiler.kernels import Kernel, all_kernels, kernel_named
from compiler.loading import load_builtins
from compiler.operators.indexing import (
    CumsumParams,
    GatherElementsParams,
    GatherNdParams,
    ScatterElementsParams,
    ScatterNdParams,
    TopKParams,
)
from compiler.registry import shape as output_shapes
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import one_op, tensor

load_builtins()
KERNELS = sorted(
    k.name for k in all_kernels() if k.target == "reference" and k.source == "indexing.h"
)
#: Shape of x, shape of the indices, batch dimensions.
GATHERS = (
    ((4, 5), (3, 2), 0), ((7, 5), (2, 3, 1), 0), ((2, 3, 4), (2, 2, 1), 1),
    ((2, 3, 4, 5), (2, 3, 2, 1), 2), ((7,), (1,), 0),
)  # fmt: skip
#: Shape of x, shape of the indices, axis.
ELEMENTS = (((5,), (3,), 0), ((4, 5), (4, 2), 1), ((4, 5), (2, 5), 0), ((3, 4, 5), (2, 6, 3), 1))
TOPS = (((9,), 0, 3), ((3, 8), 1, 8), ((4, 5, 3), 1, 2), ((6, 2), 0, 1))


def _view(kind: str, params: Any, inputs: Sequence[Tensor]) -> OpView:
    draft = one_op(kind, params, inputs, [tensor("y0", (), inputs[0].dtype)])
    outputs = [
        Tensor(f"y{i}", tuple(shape), dtype)
        for i, (shape, dtype) in enumerate(output_shapes[kind](draft))
    ]
    return one_op(kind, params, inputs, outputs)


def _tensors(*arrays: np.ndarray) -> list[Tensor]:
    return [Tensor(f"x{i}", a.shape, a.dtype.name) for i, a in enumerate(arrays)]


def _values(shape: Sequence[int], dtype: str, seed: int = 0) -> np.ndarray:
    """Small numbers, some of them equal, of which products stay exact."""
    return np.random.default_rng(seed).integers(0, 5, shape).astype(dtype)


def _indices(shape: Sequence[int], limits: Sequence[int], dtype: str) -> np.ndarray:
    """Along the last axis within [-limit, limit), each tuple once, so that order is no matter."""
    count = int(np.prod(shape[:-1]))
    places = np.random.default_rng(1).permutation(int(np.prod(limits)))[:count]
    tuples = np.stack(np.unravel_index(places, tuple(limits)), -1).reshape(shape)
    negative = np.random.default_rng(2).integers(0, 2, tuples.shape)
    return (tuples - negative * np.array(limits)).astype(dtype)


def _cases(kernel: Kernel, dtype: str) -> list[Case]:
    kind = kernel.ops[0]
    index = getattr(kernel, "index_dtype", "int64")
    reduction = getattr(kernel, "reduction", "none")
    made: list[tuple[Any, tuple[np.ndarray, ...]]] = []
    if kind in ("gather_nd", "scatter_nd"):
        for shape, indices_shape, batch in GATHERS:
            if kind == "scatter_nd" and batch:
                continue
            x, depth = _values(shape, dtype), indices_shape[-1]
            limits = shape[batch : batch + depth]
            if batch:
                indices = np.zeros(indices_shape, index) - 1
            else:
                indices = _indices(indices_shape, limits, index)
            updates = _values((*indices_shape[:-1], *shape[depth:]), dtype, 3)
            params = GatherNdParams(batch) if kind == "gather_nd" else ScatterNdParams(reduction)
            made.append((params, (x, indices, updates)[: 2 if kind == "gather_nd" else 3]))
    elif kind in ("gather_elements", "scatter_elements"):
        for shape, indices_shape, axis in ELEMENTS:
            if kind == "scatter_elements" and indices_shape[axis] > shape[axis]:
                continue
            x, limit = _values(shape, dtype), shape[axis]
            line = np.arange(indices_shape[axis]) % limit
            line = np.where(line % 2, line - limit, line).astype(index)
            places = line.reshape([-1 if i == axis else 1 for i in range(len(shape))])
            indices = np.ascontiguousarray(np.broadcast_to(places, indices_shape))
            if kind == "gather_elements":
                made.append((GatherElementsParams(axis), (x, indices)))
            else:
                updates = _values(indices_shape, dtype, 3)
                made.append((ScatterElementsParams(axis, reduction), (x, indices, updates)))
    elif kind == "top_k":
        for shape, axis, k in TOPS:
            params = TopKParams(axis, k, getattr(kernel, "largest", True), index)
            made.append((params, (_values(shape, dtype),)))
    else:
        for flags in ((False, False), (True, False), (False, True), (True, True)):
            for shape, axis in (((5,), 0), ((2, 6), 1), ((3, 4, 2), 1)):
                made.append((CumsumParams(axis, *flags), (_values(shape, dtype),)))
    return [Case(kernel, _view(kind, p, _tensors(*arrays)), arrays) for p, arrays in made]


@pytest.mark.parametrize("source", ["gather_nd", "gather_elements", "scatter", "top_k", "cumsum"])
def test_indexing(source: str) -> None:
    """Every kernel of the family, in one program."""
    cases = []
    for name in KERNELS:
        kernel = kernel_named(name)
        if name.startswith(source):
            dtype = "float32" if "float32" in kernel.dtypes else kernel.dtypes[0]
            cases += [c for c in _cases(kernel, dtype) if kernel.fits(c.view)]
    assert len(cases) >= 12
    check(cases, MACHINES["host-sanitized"])
