"""Arithmetic of axis permutations: axis i of a transposed tensor is axis ``p[i]`` of its source."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiler.graph import Shape

Permutation = tuple[int, ...]


def inverse(permutation: Permutation) -> Permutation:
    return tuple(int(i) for i in np.argsort(permutation))


def apply(values: tuple[Any, ...], permutation: Permutation) -> tuple[Any, ...]:
    """``values`` per axis of the source, as axes of the transposed tensor."""
    return tuple(values[axis] for axis in permutation)


def keeps_order(shape: Shape, permutation: Permutation) -> bool:
    """Whether transposing ``shape`` leaves every element where it is in memory."""
    moved = [axis for axis in permutation if shape[axis] != 1]
    return moved == sorted(moved)


def reshape_source(
    source: Shape, permutation: Permutation, wanted: Shape
) -> tuple[Shape, Permutation] | None:
    """``reshape(transpose(source, permutation), wanted)`` as a transpose of a reshaped source.

    Returns that source's shape and the new permutation; None where axes that the reshape joins
    do not lie side by side in the source.
    """
    groups = _matching_axes(apply(source, permutation), wanted)
    large = [axis for axis in range(len(source)) if source[axis] != 1]
    order: list[tuple[int, list[int]]] = []
    for old, new in groups:
        spots = [large.index(permutation[axis]) for axis in old if source[permutation[axis]] != 1]
        if spots and spots != list(range(spots[0], spots[0] + len(spots))):
            return None
        order.append((spots[0] if spots else -1, new))
    shape: list[int] = []
    place = {}
    for _, new in sorted(order, key=lambda entry: entry[0]):
        for axis in new:
            place[axis] = len(shape)
            shape.append(wanted[axis])
    return tuple(shape), tuple(place[axis] for axis in range(len(wanted)))


def gather_joined(source: Shape, permutation: Permutation, wanted: Shape) -> Permutation:
    """The transpose of ``source`` that moves no more than ``reshape_source`` needs.

    Axes that the reshape joins come to lie side by side; otherwise the source's order stays.
    """
    groups = [old for old, _ in _matching_axes(apply(source, permutation), wanted) if old]
    groups.sort(key=lambda old: min(permutation[axis] for axis in old))
    return tuple(permutation[axis] for old in groups for axis in old)


def _matching_axes(old: Shape, new: Shape) -> list[tuple[list[int], list[int]]]:
    """The least runs of axes of two shapes of the same elements that have equal products."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        left: list[int] = []
        right: list[int] = []
        products = [1, 1]
        while not (left or right) or products[0] != products[1]:
            if i < len(old) and (products[0] < products[1] or not left):
                products[0] *= old[i]
                left.append(i)
                i += 1
            else:
                products[1] *= new[j]
                right.append(j)
                j += 1
        groups.append((left, right))
    return groups
