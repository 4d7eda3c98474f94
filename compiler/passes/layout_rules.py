"""How operators with axes work on permuted inputs; see ``passes/layout.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from compiler.graph import OpView
from compiler.operators.reduction import REDUCTIONS
from compiler.passes.permutations import Permutation, apply, inverse
from compiler.registry import Attribute


@dataclass(frozen=True)
class Sunk:
    """An operator on permuted inputs: its parameters, and its outputs' permutation."""

    params: Any
    permutation: Permutation


#: ``permuted(view, p) -> Sunk``: the operator where every activation is ``transpose(source, p)``
#: (axis i of the tensor is axis ``p[i]`` of its source), working on the sources. None: it cannot.
#: Elementwise and broadcasting operators need no entry.
permuted: Attribute[Callable[[OpView, Permutation], Sunk | None]] = Attribute("permuted")


@permuted.of("softmax", "log_softmax", "concat", "split")
def along_axis(view: OpView, permutation: Permutation) -> Sunk:
    return Sunk(replace(view.params, axis=permutation[view.params.axis]), permutation)


@permuted.of("pad")
def pad(view: OpView, permutation: Permutation) -> Sunk:
    back = inverse(permutation)
    before, after = apply(view.params.before, back), apply(view.params.after, back)
    return Sunk(replace(view.params, before=before, after=after), permutation)


@permuted.of("slice")
def slice_(view: OpView, permutation: Permutation) -> Sunk:
    back, p = inverse(permutation), view.params
    return Sunk(
        replace(
            p, begin=apply(p.begin, back), size=apply(p.size, back), stride=apply(p.stride, back)
        ),
        permutation,
    )


@permuted.of("tile")
def tile(view: OpView, permutation: Permutation) -> Sunk:
    repeats = apply(view.params.repeats, inverse(permutation))
    return Sunk(replace(view.params, repeats=repeats), permutation)


@permuted.of("l2_normalization")
def last_axis(view: OpView, permutation: Permutation) -> Sunk | None:
    kept = permutation[-1] == len(permutation) - 1
    return Sunk(view.params, permutation) if kept else None


@permuted.of(*REDUCTIONS)
def reduction(view: OpView, permutation: Permutation) -> Sunk:
    axes = tuple(sorted(permutation[axis] for axis in view.params.axes))
    params = replace(view.params, axes=axes)
    if view.params.keep_dims:
        return Sunk(params, permutation)
    return Sunk(params, _remaining(permutation, view.params.axes))


@permuted.of("arg_max", "arg_min")
def arg(view: OpView, permutation: Permutation) -> Sunk:
    params = replace(view.params, axis=permutation[view.params.axis])
    if view.params.keep_dims:
        return Sunk(params, permutation)
    return Sunk(params, _remaining(permutation, (view.params.axis,)))


def _remaining(permutation: Permutation, dropped: tuple[int, ...]) -> Permutation:
    """The permutation of the axes that are left when ``dropped`` of the output are gone."""
    left = [axis for i, axis in enumerate(permutation) if i not in dropped]
    order = sorted(left)
    return tuple(order.index(axis) for axis in left)
