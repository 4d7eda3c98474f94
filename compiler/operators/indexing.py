"""Operators that read or write at computed indices; the largest k; sums so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.registry import classify, params, reference, shape

Array = np.ndarray

REDUCTIONS = ("none", "add", "mul", "max", "min")


@params.of("gather_nd")
@dataclass(frozen=True)
class GatherNdParams:
    """Inputs x and indices (..., K): the part of x at each K-tuple; negative from the end.

    The first ``batch_dims`` axes of both go together.
    """

    batch_dims: int = 0


@params.of("gather_elements")
@dataclass(frozen=True)
class GatherElementsParams:
    """Inputs x and indices of the output's shape: element i of the output is x at i, but along
    ``axis`` at the index; negative from the end."""

    axis: int


@params.of("scatter_elements")
@dataclass(frozen=True)
class ScatterElementsParams:
    """Inputs x, indices and updates of one shape: x, where each update went to its place, along
    ``axis`` at its index; joined with what is there by ``reduction``."""

    axis: int
    reduction: str = "none"


@params.of("scatter_nd")
@dataclass(frozen=True)
class ScatterNdParams:
    """Inputs x, indices (..., K), updates: x, where the part at each K-tuple is its update,
    or is joined with it by ``reduction``."""

    reduction: str = "none"


@params.of("top_k")
@dataclass(frozen=True)
class TopKParams:
    """The ``k`` largest (or least) along ``axis`` in order, of equal ones the first; and their
    indices, in ``index_dtype``."""

    axis: int
    k: int
    largest: bool = True
    index_dtype: str = "int64"


@params.of("cumsum")
@dataclass(frozen=True)
class CumsumParams:
    """Sums along ``axis`` up to each element, without it if ``exclusive``; ``reverse`` from the
    end."""

    axis: int
    exclusive: bool = False
    reverse: bool = False


for _kind in ("gather_nd", "gather_elements"):
    classify(_kind, "movement")
for _kind in ("scatter_elements", "scatter_nd", "top_k", "cumsum"):
    classify(_kind, "opaque")


@shape.of("gather_nd")
def _gather_nd_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, indices = view.input(0), view.input(1).shape
    rest = x.shape[view.params.batch_dims + indices[-1] :]
    return [((*indices[:-1], *rest), x.dtype)]


@shape.of("gather_elements")
def _gather_elements_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(1).shape, view.input(0).dtype)]


@shape.of("scatter_elements", "scatter_nd", "cumsum")
def _same_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(0).shape, view.input(0).dtype)]


@shape.of("top_k")
def _top_k_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, p = view.input(0), view.params
    result = (*x.shape[: p.axis], p.k, *x.shape[p.axis + 1 :])
    return [(result, x.dtype), (result, p.index_dtype)]


@reference.of("gather_nd")
def _gather_nd(view: OpView, x: Array, indices: Array) -> Array:
    batch = view.params.batch_dims
    lead = indices.shape[:-1]
    grids = np.ogrid[tuple(slice(size) for size in lead)] if lead else []
    return np.asarray(x[tuple([*grids[:batch], *np.moveaxis(indices, -1, 0)])])


@reference.of("gather_elements")
def _gather_elements(view: OpView, x: Array, indices: Array) -> Array:
    axis = view.params.axis
    places = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    places[axis] = indices
    return x[tuple(places)]


def _scatter(target: Array, places: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    if reduction == "none":
        target[places] = updates
        return target
    functions = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    functions[reduction].at(target, places, updates)
    return target


@reference.of("scatter_elements")
def _scatter_elements(view: OpView, x: Array, indices: Array, updates: Array) -> Array:
    places = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    places[view.params.axis] = indices
    return _scatter(x.copy(), tuple(places), updates, view.params.reduction)


@reference.of("scatter_nd")
def _scatter_nd(view: OpView, x: Array, indices: Array, updates: Array) -> Array:
    places = tuple(np.moveaxis(indices, -1, 0))
    return _scatter(x.copy(), places, updates, view.params.reduction)


@reference.of("top_k")
def _top_k(view: OpView, x: Array) -> tuple[Array, Array]:
    p = view.params
    # Negating unsigned or least integers would wrap: order by rank instead.
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    order = np.argsort(-ranks if p.largest else ranks, axis=p.axis, kind="stable")
    chosen = order.take(range(p.k), axis=p.axis)
    return np.take_along_axis(x, chosen, p.axis), chosen.astype(p.index_dtype)


@reference.of("cumsum")
def _cumsum(view: OpView, x: Array) -> Array:
    p = view.params
    turned = np.flip(x, p.axis) if p.reverse else x
    sums = np.cumsum(turned, axis=p.axis, dtype=x.dtype)
    if p.exclusive:
        sums = np.roll(sums, 1, p.axis)
        first = [slice(None)] * x.ndim
        first[p.axis] = slice(0, 1)
        sums[tuple(first)] = 0
    return np.flip(sums, p.axis) if p.reverse else sums
