"""The exact host simulator: every operator's numpy meaning, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from compiler.errors import ModelError
from compiler.graph import Graph, Op
from compiler.registry import reference

Observer = Callable[[str, np.ndarray], None]


class Simulator:
    """Runs a graph; state tensors keep their values between runs, until `reset`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._last_use = _last_uses(graph)
        self.reset()

    def reset(self) -> None:
        """Give every state tensor its initial value."""
        self._state = {
            name: np.zeros(t.shape, t.dtype) if t.data is None else t.data.copy()
            for name, t in self.graph.tensors.items()
            if t.is_state
        }

    def run(
        self, inputs: Mapping[str, np.ndarray], observe: Observer | None = None
    ) -> dict[str, np.ndarray]:
        """One inference on arrays of the model's own shapes and dtypes.

        ``observe(name, value)`` is shown every tensor that is computed. Raises ModelError where
        an input is missing, or a result is not what its tensor says.
        """
        graph = self.graph
        values: dict[str, np.ndarray] = {
            name: t.data
            for name, t in graph.tensors.items()
            if t.is_constant and t.data is not None
        }
        values.update(self._state)
        for name in graph.inputs:
            if name not in inputs:
                raise ModelError(f"input '{name}' is missing")
            values[name] = self._checked(name, np.asarray(inputs[name]), "given")
        for position, op in enumerate(graph.ops):
            for name, value in zip(op.outputs, self._evaluate(op, values), strict=True):
                values[name] = self._checked(name, value)
                if observe is not None:
                    observe(name, values[name])
            for name in self._last_use.get(position, ()):
                del values[name]
        self._state = {name: values[name] for name in self._state}
        return {name: values[name] for name in graph.outputs}

    def _evaluate(self, op: Op, values: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        arguments = [values[name] if name else None for name in op.inputs]
        result = reference[op.kind](self.graph.view(op), *arguments)
        return result if isinstance(result, tuple) else (result,)

    def _checked(self, name: str, value: np.ndarray, how: str = "computed") -> np.ndarray:
        tensor = self.graph.tensors[name]
        if value.shape != tensor.shape or str(value.dtype) != tensor.dtype:
            raise ModelError(
                f"tensor '{name}': {how} as {value.dtype}{list(value.shape)}, not "
                f"{tensor.dtype}{list(tensor.shape)}"
            )
        return value


def _last_uses(graph: Graph) -> dict[int, list[str]]:
    """Tensors that can be forgotten after each operator."""
    kept = {*graph.outputs, *(n for n, t in graph.tensors.items() if t.is_state or t.is_constant)}
    last: dict[str, int] = {}
    for position, op in enumerate(graph.ops):
        for name in (*op.inputs, *op.outputs):
            if name and name not in kept:
                last[name] = position
    uses: dict[int, list[str]] = {}
    for name, position in last.items():
        uses.setdefault(position, []).append(name)
    return uses
