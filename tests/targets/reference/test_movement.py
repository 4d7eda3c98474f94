"""Operators that move elements, of every element size, against the reference attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from compiler.graph import OpView, Tensor
from compiler.kernels import Kernel, kernel_named
from compiler.loading import load_builtins
from compiler.operators.movement import (
    BlockParams,
    BroadcastToParams,
    ConcatParams,
    GatherParams,
    PadParams,
    ReshapeParams,
    SliceParams,
    SplitParams,
    TileParams,
    TransposeParams,
)
from compiler.operators.resize import ResizeParams
from compiler.registry import shape as output_shapes
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.operator_cases import fitting, one_op, tensor, values

load_builtins()
DTYPES = ("int8", "int16", "float32", "int64")

COPIES: tuple[tuple[str, Sequence[int], Any], ...] = (
    ("reshape", (2, 3), ReshapeParams((6,))),
    ("transpose", (2, 3), TransposeParams((1, 0))),
    ("transpose", (2, 3, 4, 5), TransposeParams((0, 3, 1, 2))),
    ("transpose", (2, 3, 4, 5), TransposeParams((0, 2, 3, 1))),
    ("transpose", (1, 2, 3, 1, 2, 3, 2, 2), TransposeParams((7, 1, 5, 0, 4, 2, 6, 3))),
    ("transpose", (5,), TransposeParams((0,))),
    ("slice", (7,), SliceParams((6,), (4,), (-2,))),
    ("slice", (4, 5, 6), SliceParams((1, 0, 2), (2, 5, 3), (1, 1, 1))),
    ("slice", (4, 5, 6), SliceParams((3, 1, 5), (2, 2, 6), (-2, 3, -1))),
    ("slice", (2, 9, 3), SliceParams((0, 1, 0), (2, 4, 3), (1, 2, 1))),
    ("tile", (2, 3), TileParams((3, 2))),
    ("tile", (1, 3, 1), TileParams((2, 1, 4))),
    ("tile", (2, 2, 3, 2), TileParams((2, 3, 2, 2))),
    ("broadcast_to", (3, 1), BroadcastToParams((2, 3, 4))),
    ("broadcast_to", (1, 2, 1, 2, 1, 2, 1, 1), BroadcastToParams((2, 2, 3, 2, 2, 2, 1, 3))),
    ("broadcast_to", (), BroadcastToParams((2, 2))),
    ("depth_to_space", (2, 3, 2, 12), BlockParams(2)),
    ("depth_to_space", (1, 2, 3, 18), BlockParams(3, "crd")),
    ("space_to_depth", (2, 4, 6, 3), BlockParams(2)),
    ("space_to_depth", (1, 6, 3, 2), BlockParams(3, "crd")),
)
PADS = (
    ((3,), (2,), (1,)),
    ((2, 3), (1, 0), (0, 2)),
    ((2, 3, 4, 2), (0, 2, 1, 0), (1, 1, 3, 1)),
    ((3, 4, 5), (2, 2, 4), (2, 3, 4)),
)
CONCATS = (
    ([(2, 3), (2, 1), (2, 5)], 1),
    ([(3, 2), (1, 2)], 0),
    ([(1, 2, 3), (1, 2, 3)], 0),
    ([(2, 1, 3), (2, 4, 3), (2, 2, 3)], 1),
    ([(2, 1)] * 40, 1),
)
RESIZES = (((5, 7), (3, 4)), ((3, 4), (9, 8)), ((4, 4), (8, 8)), ((1, 3), (5, 1)), ((2, 2), (7, 3)))


def movement_view(
    kind: str, params: Any, inputs: Sequence[Tensor], dtype: str, scale: float
) -> OpView:
    """One operator, with as many outputs as its shape attribute gives."""
    draft = one_op(kind, params, inputs, [tensor("y0", (), dtype)])
    shapes = output_shapes[kind](draft)
    outputs = [tensor(f"y{i}", shape, dtype, scale, 3) for i, (shape, _) in enumerate(shapes)]
    return one_op(kind, params, inputs, outputs)


def movement_case(
    kernel: Kernel, kind: str, params: Any, shapes: Sequence[Sequence[int]], dtype: str
) -> Case:
    scale = 0.5 if dtype == "int8" else 0.0
    inputs = [tensor(f"x{i}", shape, dtype, scale, 3) for i, shape in enumerate(shapes)]
    random = np.random.default_rng(len(shapes))
    arrays = tuple(values(random, shape, dtype) for shape in shapes)
    return Case(kernel, movement_view(kind, params, inputs, dtype, scale), arrays)


def size_of(dtype: str) -> int:
    return np.dtype(dtype).itemsize


@pytest.mark.parametrize("dtype", DTYPES)
def test_strided_copies(dtype: str) -> None:
    kernel = kernel_named(f"strided_copy_bytes{size_of(dtype)}__reference")
    cases = [movement_case(kernel, kind, p, [shape], dtype) for kind, shape, p in COPIES]
    assert len(fitting(cases)) == len(cases)
    check(cases, MACHINES["host-sanitized"])


def pad_cases(kernel: Kernel, dtype: str) -> Iterator[Case]:
    for shape, before, after in PADS:
        for mode in ("constant", "edge", "symmetric", "reflect"):
            least = min(shape) - (mode == "reflect")
            if mode in ("symmetric", "reflect") and max(*before, *after) > least:
                before, after = (tuple(min(n, least) for n in side) for side in (before, after))
            value = 1.5 if mode == "constant" else 0.0
            params = PadParams(before, after, mode, value)
            yield movement_case(kernel, "pad", params, [shape], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pad(dtype: str) -> None:
    kernel = kernel_named(f"pad_bytes{size_of(dtype)}__reference")
    check(list(pad_cases(kernel, dtype)), MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_concat_and_split(dtype: str) -> None:
    concat, split = kernel_named("concat_bytes__reference"), kernel_named("split_bytes__reference")
    cases = []
    for shapes, axis in CONCATS:
        cases.append(movement_case(concat, "concat", ConcatParams(axis), shapes, dtype))
        whole = list(shapes[0])
        whole[axis] = sum(shape[axis] for shape in shapes)
        params = SplitParams(axis, tuple(shape[axis] for shape in shapes))
        cases.append(movement_case(split, "split", params, [whole], dtype))
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(dtype: str) -> None:
    cases = []
    for bits in (32, 64):
        kernel = kernel_named(f"gather_index{bits}__reference")
        for shape, axis, indices in (
            ((5,), 0, [4, 0, -1]),
            ((3, 4, 2), 1, [[3, 1], [-4, 0]]),
            ((2, 3, 5), 2, [2]),
            ((2, 3), 0, 1),
        ):
            index = np.array(indices, f"int{bits}")
            inputs = [tensor("x", shape, dtype), tensor("i", index.shape, f"int{bits}")]
            view = movement_view("gather", GatherParams(axis), inputs, dtype, 0.0)
            x = values(np.random.default_rng(1), shape, dtype)
            cases.append(Case(kernel, view, (x, index)))
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_concat_with_scales_of_their_own(dtype: str) -> None:
    cases = []
    for shapes, axis in CONCATS[:4]:
        inputs = [tensor(f"x{i}", s, dtype, 0.1 + 0.07 * i, 2 - i) for i, s in enumerate(shapes)]
        view = movement_view("concat", ConcatParams(axis), inputs, dtype, 0.17)
        random = np.random.default_rng(axis)
        arrays = tuple(values(random, shape, dtype) for shape in shapes)
        cases.append(Case(kernel_named(f"concat_{dtype}__reference"), view, arrays))
    check(fitting(cases), MACHINES["host-sanitized"])


RESIZE_FLAGS = ((False, False), (True, False), (False, True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_resize_nearest(dtype: str) -> None:
    kernel = kernel_named("resize_nearest_bytes__reference")
    cases = [
        movement_case(
            kernel, "resize_nearest", ResizeParams(after, align, half), [(2, *before, 3)], dtype
        )
        for before, after in RESIZES
        for align, half in RESIZE_FLAGS
    ]
    check(cases, MACHINES["host-sanitized"])


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
def test_resize_bilinear(dtype: str) -> None:
    kernel = kernel_named(f"resize_bilinear_{dtype}__reference")
    cases = [
        movement_case(
            kernel, "resize_bilinear", ResizeParams(after, align, half), [(2, *before, 5)], dtype
        )
        for before, after in RESIZES
        for align, half in RESIZE_FLAGS
    ]
    check(cases, MACHINES["host-sanitized"])
