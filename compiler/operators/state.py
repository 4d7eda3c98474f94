"""Values that persist between runs: writing one, and keeping the old one beside the new.

A state tensor has its value from the run before until its one writer overwrites it, and nothing
reads it after that (``invariants.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.registry import classify, params, reference, shape

Array = np.ndarray


@params.of("read_state")
@dataclass(frozen=True)
class ReadStateParams:
    """Input a state, output its value in a tensor of its own, that outlives the state's."""


@params.of("assign_state")
@dataclass(frozen=True)
class AssignStateParams:
    """Input any tensor, output a state of the same type and number of elements."""


classify("read_state", "opaque")
classify("assign_state", "opaque")


@shape.of("read_state")
def _read_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(0).shape, view.input(0).dtype)]


@shape.of("assign_state")
def _assign_shape(view: OpView) -> list[tuple[Shape, str]]:
    value, state = view.input(0), view.output()
    if value.elements != state.elements:
        raise ValueError(f"{value.elements} elements cannot become {state.elements}")
    return [(state.shape, value.dtype)]


@reference.of("read_state", "assign_state")
def _copy(view: OpView, x: Array) -> Array:
    return x.reshape(view.output().shape).copy()
