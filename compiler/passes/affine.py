"""Arithmetic with constants that is one factor and one offset per channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView
from compiler.operators.elementwise import ArithmeticParams


@dataclass(frozen=True, eq=False)
class Affine:
    """``y * scale + offset``, each float32 (channels,)."""

    scale: np.ndarray
    offset: np.ndarray


def takes_constants(view: OpView) -> bool:
    """Whether weights and bias of the operator are float constants, so that others may be."""
    bias = view.optional(2)
    constants = [view.input(1)] + ([bias] if bias is not None else [])
    return all(tensor.is_constant and tensor.dtype == "float32" for tensor in constants)


def affine_of(view: OpView, y: str) -> Affine | None:
    """What ``view`` does to its input ``y``, if that is one factor and one offset per channel."""
    if not isinstance(view.params, ArithmeticParams) or view.op.inputs[0] == view.op.inputs[1]:
        return None
    position = view.op.inputs.index(y)
    other, made = view.input(1 - position), view.input(position)
    if other.data is None or other.is_state or view.output().shape != made.shape or not made.shape:
        return None
    channels = made.shape[-1]
    if other.elements not in (1, channels) or (other.elements != 1 and other.shape[-1] != channels):
        return None
    value = np.broadcast_to(other.data.reshape(-1).astype(np.float32), (channels,))
    one, zero = np.ones(channels, np.float32), np.zeros(channels, np.float32)
    kind = view.op.kind
    if kind == "mul":
        return Affine(value, zero)
    if kind == "add":
        return Affine(one, value)
    if kind == "sub":
        return Affine(one, -value) if position == 0 else Affine(-one, value)
    if kind == "div" and position == 0 and value.all():
        return Affine(one / value, zero)
    return None
