"""Recurrent layers over a whole sequence: plain, LSTM and GRU cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.graph import OpView, Shape
from compiler.registry import classify, macs, params, reference, shape

Array = np.ndarray

GATES = {"rnn": 1, "lstm": 4, "gru": 3}
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "logistic": lambda x: np.asarray(0.5 * (1 + np.tanh(0.5 * x))),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
}


@params.of("recurrent")
@dataclass(frozen=True)
class RecurrentParams:
    """Inputs x (T,N,G*H), which is the sequence times its weights plus the biases; recurrent
    weights (G*H,H); first output (N,H); of an LSTM the first cell (N,H) and peepholes (3*H) for
    input, output and forget gate; of a GRU with ``linear_before_reset`` the recurrent bias (H) of
    its candidate. Outputs y (T,N,H), and of an LSTM the last cell (N,H).

    Gates, G of them, in this order: LSTM input, output, forget, candidate; GRU update, reset,
    candidate. ``activations`` are of the gates, the candidate and the LSTM's output.
    ``reverse`` runs from the end. What goes into gates and candidate is limited to +-``clip``.
    """

    cell: str
    activations: tuple[str, ...]
    reverse: bool = False
    clip: float = math.inf
    linear_before_reset: bool = False


classify("recurrent", "opaque")


@shape.of("recurrent")
def _recurrent_shape(view: OpView) -> list[tuple[Shape, str]]:
    x, weight = view.input(0), view.input(1).shape
    hidden = weight[1]
    if x.shape[2] != weight[0] or weight[0] != GATES[view.params.cell] * hidden:
        raise ValueError("the weights are for another number of gates or units")
    y = ((*x.shape[:2], hidden), x.dtype)
    last = ((x.shape[1], hidden), x.dtype)
    return [y, last] if view.params.cell == "lstm" else [y]


@macs.of("recurrent")
def _recurrent_macs(view: OpView) -> int:
    x = view.input(0).shape
    return x[0] * x[1] * math.prod(view.input(1).shape)


@dataclass(frozen=True, eq=False)
class _Cell:
    """What stays the same over time."""

    params: RecurrentParams
    weight: Array  # (G, H, H)
    peephole: Array  # (3, H)
    bias: Array  # (H,)

    def activate(self, index: int, x: Array) -> Array:
        limit = self.params.clip
        return ACTIVATIONS[self.params.activations[index]](np.clip(x, -limit, limit))

    def step(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        """One turn on x (N, G, H)."""
        return {"rnn": self._plain, "lstm": self._lstm, "gru": self._gru}[self.params.cell](x, h, c)

    def _plain(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        return self.activate(0, x[:, 0] + h @ self.weight[0].T), c

    def _lstm(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        gates = [x[:, i] + h @ self.weight[i].T for i in range(4)]
        opened = self.activate(0, gates[0] + self.peephole[0] * c)
        kept = self.activate(0, gates[2] + self.peephole[2] * c)
        c = kept * c + opened * self.activate(1, gates[3])
        shown = ACTIVATIONS[self.params.activations[2]](c)
        return self.activate(0, gates[1] + self.peephole[1] * c) * shown, c

    def _gru(self, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        update, reset = (self.activate(0, x[:, i] + h @ self.weight[i].T) for i in (0, 1))
        if self.params.linear_before_reset:
            inner = reset * (h @ self.weight[2].T + self.bias)
        else:
            inner = (reset * h) @ self.weight[2].T
        return (1 - update) * self.activate(1, x[:, 2] + inner) + update * h, c


@reference.of("recurrent")
def _recurrent(
    view: OpView,
    x: Array,
    weight: Array,
    h: Array,
    c: Array | None = None,
    peephole: Array | None = None,
    bias: Array | None = None,
) -> Array | tuple[Array, ...]:
    p, hidden = view.params, weight.shape[1]
    zeros = np.zeros(3 * hidden, np.float32)
    cell = _Cell(
        p,
        weight.astype(np.float32).reshape(-1, hidden, hidden),
        (zeros if peephole is None else peephole).reshape(3, hidden),
        zeros[:hidden] if bias is None else bias,
    )
    wide = x.astype(np.float32).reshape(*x.shape[:2], -1, hidden)
    state = np.zeros_like(h) if c is None else c
    y = np.zeros((*x.shape[:2], hidden), np.float32)
    for t in reversed(range(len(x))) if p.reverse else range(len(x)):
        h, state = cell.step(wide[t], h, state)
        y[t] = h
    y = y.astype(x.dtype)
    return (y, state.astype(x.dtype)) if p.cell == "lstm" else y
