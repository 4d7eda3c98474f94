"""Elementwise operators between two 8-bit tensors become one table of 256 bytes.

A tensor is a function of another, its root, if it is computed element by element from that tensor
and constants alone: by a chain of unary operators, by arithmetic with a constant, by a product of
two functions of the same root, also by way of float32. Where root and result have 8 bits, a table
holds the whole function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.graph import Graph, Op, OpView, Tensor
from compiler.operators.fused import LookupParams
from compiler.passes.remove_dead_code import remove_dead_code
from compiler.passes.rewrite import is_pinned
from compiler.registry import op_class
from compiler.tables import byte_table


@dataclass(frozen=True)
class _Function:
    """What a tensor is: the operators at ``positions`` of the graph applied to ``root``."""

    root: str
    positions: frozenset[int]


def fuse_lookup(graph: Graph) -> Graph:
    """The graph with tables in place of whatever lies between tensors that are needed anyway."""
    needed = {name for name in graph.tensors if is_pinned(graph, name)}
    while True:
        functions = _functions(graph, needed)
        wanted = _needed(graph, functions)
        if wanted <= needed:
            break
        # A tensor that is there anyway is the root of what follows, so that no other lives longer.
        needed |= wanted
    ops = [
        _lookup(graph, op, functions[op.outputs[0]]) if _is_table(graph, op, functions) else op
        for op in graph.ops
    ]
    return remove_dead_code(graph.with_ops(ops))


def _functions(graph: Graph, needed: set[str]) -> dict[str, _Function]:
    """The tensors that are functions of an 8-bit one; those ``needed`` with 8 bits are roots."""
    functions: dict[str, _Function] = {}
    for position, op in enumerate(graph.ops):
        if not _is_pointwise(graph.view(op)):
            continue
        roots, positions = set(), {position}
        for name in op.inputs:
            tensor = graph.tensors[name]
            if tensor.is_constant:
                continue
            function = functions.get(name)
            if function is None or (name in needed and _is_byte(tensor)):
                function = _Function(name, frozenset())
            roots.add(function.root)
            positions |= function.positions
        if len(roots) == 1 and _is_byte(graph.tensors[root := roots.pop()]):
            functions[op.outputs[0]] = _Function(root, frozenset(positions))
    return functions


def _is_byte(tensor: Tensor) -> bool:
    """Whether it may be the root or the result of a table."""
    return tensor.dtype in ("int8", "uint8") and tensor.quant is not None and not tensor.is_state


def _is_pointwise(view: OpView) -> bool:
    """Whether each element depends on one element of each input, constants aside."""
    if op_class.get(view.op.kind) not in ("elementwise", "broadcast") or len(view.outputs) != 1:
        return False
    output = view.output()
    tensors = [t for t in view.inputs if t is not None]
    if any(t.quant is not None and t.quant.per_channel for t in (*tensors, output)):
        return False
    return all(
        t.elements == 1 if t.is_constant else t.shape == output.shape and not t.is_state
        for t in tensors
    )


def _is_table(graph: Graph, op: Op, functions: Mapping[str, _Function]) -> bool:
    """Whether a table is better than ``op``: one unary operator is a table already."""
    function = functions.get(op.outputs[0])
    if function is None or not _is_byte(graph.tensors[op.outputs[0]]):
        return False
    return len(function.positions) > 1 or op_class[op.kind] == "broadcast"


def _needed(graph: Graph, functions: Mapping[str, _Function]) -> set[str]:
    """The tensors that are there at all if whatever can be a table is one."""
    needed = {name for name in graph.tensors if is_pinned(graph, name)}
    for op in reversed(graph.ops):
        if needed.isdisjoint(op.outputs):
            continue
        if _is_table(graph, op, functions):
            needed.add(functions[op.outputs[0]].root)
        else:
            needed.update(name for name in op.inputs if name)
    return needed


def _lookup(graph: Graph, op: Op, function: _Function) -> Op:
    ops = [graph.ops[position] for position in sorted(function.positions)]
    params = LookupParams(byte_table(graph, ops, function.root), tuple(o.kind for o in ops))
    return Op("lookup", op.name, (function.root,), op.outputs, params)
