"""Float activations that a file spells out in arithmetic become one operator each.

clamp(x + 3, 0, 6) / 6         hard_sigmoid
x * hard_sigmoid(x)            hard_swish, also with the division last
x * logistic(x)                silu
"""

from __future__ import annotations

from dataclasses import replace

from compiler.graph import NO_CLAMP, Graph, Op, OpView
from compiler.operators.elementwise import UnaryParams
from compiler.passes.remove_dead_code import remove_dead_code

#: How far, relatively, a file's 1/6 may be from 1/6: float32 rounding.
_TOLERANCE = 1e-6


def recognise_activations(graph: Graph) -> Graph:
    """The graph with those operators; what only they needed goes."""
    made: dict[str, OpView] = {}
    ops: list[Op] = []
    for op in graph.ops:
        found = _activation(graph.view(op), made)
        if found is not None:
            kind, source = found
            op = replace(op, kind=kind, inputs=(source,), params=UnaryParams())
        made.update(dict.fromkeys(op.outputs, graph.view(op)))
        ops.append(op)
    return remove_dead_code(graph.with_ops(ops))


def _activation(view: OpView, made: dict[str, OpView]) -> tuple[str, str] | None:
    """(kind, name of x) of the activation whose last operator ``view`` is."""
    if view.op.kind not in ("mul", "div") or view.output().dtype != "float32":
        return None
    if view.params.clamp != NO_CLAMP:
        return None
    scaled = _sixth_of(view)
    if scaled is not None:
        return _scaled(view, scaled, made)
    return _gated(view, made)


def _sixth_of(view: OpView) -> str | None:
    """The tensor that ``view`` divides by 6."""
    for position in (0, 1) if view.op.kind == "mul" else (1,):
        factor = _scalar(view, position)
        wanted = 1 / 6 if view.op.kind == "mul" else 6.0
        if factor is not None and abs(factor - wanted) <= _TOLERANCE * wanted:
            return view.op.inputs[1 - position]
    return None


def _scalar(view: OpView, position: int) -> float | None:
    tensor = view.input(position)
    if tensor.data is None or tensor.is_state or tensor.elements != 1:
        return None
    other = view.input(1 - position)
    return float(tensor.data.reshape(())) if other.shape == view.output().shape else None


def _scaled(view: OpView, name: str, made: dict[str, OpView]) -> tuple[str, str] | None:
    gate = _clamped_sum(made.get(name))
    if gate is not None:
        return "hard_sigmoid", gate
    product = made.get(name)
    if product is None or product.op.kind != "mul" or product.params.clamp != NO_CLAMP:
        return None
    for position in (0, 1):
        gate = _clamped_sum(made.get(product.op.inputs[position]))
        if gate is not None and gate == product.op.inputs[1 - position]:
            return "hard_swish", gate
    return None


def _clamped_sum(view: OpView | None) -> str | None:
    """x where ``view`` is clamp(x + 3, 0, 6)."""
    if view is None or view.op.kind != "add" or view.params.clamp != (0.0, 6.0):
        return None
    for position in (0, 1):
        if _scalar(view, position) == 3.0:
            return view.op.inputs[1 - position]
    return None


_GATES = {"hard_sigmoid": "hard_swish", "logistic": "silu"}


def _gated(view: OpView, made: dict[str, OpView]) -> tuple[str, str] | None:
    """x times a gate of x."""
    if view.op.kind != "mul" or view.op.inputs[0] == view.op.inputs[1]:
        return None
    for position in (0, 1):
        gate, x = made.get(view.op.inputs[position]), view.op.inputs[1 - position]
        if gate is not None and gate.op.kind in _GATES and gate.op.inputs == (x,):
            return _GATES[gate.op.kind], x
    return None
