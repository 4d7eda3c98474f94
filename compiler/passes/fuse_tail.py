"""Zeros behind the channels of a float tensor are not stored where only arithmetic reads them.

A residual sum of two widths is a pad and an addition. The chain reads zeros where its input ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from compiler.graph import Graph, Op, OpView
from compiler.passes.fuse_elementwise import chain_of, is_stage
from compiler.passes.remove_dead_code import remove_dead_code
from compiler.passes.rewrite import Uses

CHAIN = "elementwise_chain"


def fuse_tail(graph: Graph) -> Graph:
    """The graph with such pads as ``tails`` of chains, or of operators that become chains."""
    uses = Uses(graph)
    ops = []
    for op in graph.ops:
        tails = {
            name: pad
            for name in op.inputs
            if (pad := uses.producers.get(name)) and _tail(graph.view(pad))
        }
        if (
            tails
            and (op.kind == CHAIN or is_stage(graph.view(op)))
            and _fits(graph, op, tails, uses)
        ):
            op = _with_tails(graph, op if op.kind == CHAIN else chain_of([op]), tails)
        ops.append(op)
    return remove_dead_code(graph.with_ops(ops))


def _tail(view: OpView) -> int:
    """How many zeros an operator puts behind its input's last axis, if it does only that."""
    params = view.params
    if view.op.kind != "pad" or view.output().dtype != "float32" or view.input(0).is_state:
        return 0
    if params.mode != "constant" or params.value != 0 or view.input(0).shape[-1] < 2:
        return 0
    return 0 if any((*params.before, *params.after[:-1])) else int(params.after[-1])


def _fits(graph: Graph, op: Op, tails: Mapping[str, Op], uses: Uses) -> bool:
    """Whether nobody else reads the padded tensors, and the output overwrites another input.

    Without that it might be one tensor more, instead of the padded one.
    """
    shape = graph.tensors[op.outputs[0]].shape
    dying = [
        name
        for name in op.inputs
        if graph.tensors[name].shape == shape
        and not graph.tensors[name].is_constant
        and uses.only_reader(name) is op
    ]
    return set(tails) < set(dying) and all(graph.tensors[name].shape == shape for name in tails)


def _with_tails(graph: Graph, chain: Op, tails: Mapping[str, Op]) -> Op:
    counts = tuple(_tail(graph.view(tails[n])) if n in tails else 0 for n in chain.inputs)
    inputs = tuple(tails[name].inputs[0] if name in tails else name for name in chain.inputs)
    return replace(chain, inputs=inputs, params=replace(chain.params, tails=counts))
