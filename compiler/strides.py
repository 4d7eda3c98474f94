"""Index arithmetic for kernels that walk strided arrays: row-major strides, fewer axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from compiler.graph import Shape

#: KILN_MAX_RANK of targets/reference/kernels/walk.h.
MAX_RANK = 8


def row_major(shape: Sequence[int]) -> Shape:
    """Element strides of a dense array."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def broadcast_strides(shape: Sequence[int], output: Sequence[int]) -> Shape:
    """Strides with which an array of ``shape`` is read to fill ``output``, as numpy broadcasts."""
    padded = (1,) * (len(output) - len(shape)) + tuple(shape)
    return tuple(
        0 if size == 1 else stride for size, stride in zip(padded, row_major(padded), strict=True)
    )


def collapse(extent: Sequence[int], *strides: Sequence[int]) -> tuple[Shape, ...]:
    """The same walk with the fewest axes (at least one): extents, then each array's strides.

    Axes of size 1 go; neighbours that every array passes as one run are joined.
    """
    axes: list[tuple[int, ...]] = []
    for size, *steps in zip(extent, *strides, strict=True):
        if size == 1:
            continue
        if axes and all(
            outer == size * step for outer, step in zip(axes[-1][1:], steps, strict=True)
        ):
            axes[-1] = (axes[-1][0] * size, *steps)
        else:
            axes.append((size, *steps))
    if not axes:
        axes.append((1, *(1 for _ in strides)))
    return tuple(zip(*axes, strict=True))
