"""Moves transposes past other operators until they meet and cancel; NHWC is what remains.

A front end of a channels-first format wraps each convolution in a pair of transposes. Every
transpose is deferred here: its output is remembered as ``transpose(source, permutation)``, an
operator that can work on the permuted source does so, and only an operator that cannot (or an
output of the model) has the transpose made. A permutation that moves only axes of size 1 is made
as a reshape, which costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from compiler.graph import Graph, Op, Shape, Tensor
from compiler.operators.movement import ReshapeParams, TransposeParams
from compiler.passes.layout_rules import Sunk, permuted
from compiler.passes.permutations import (
    Permutation,
    apply,
    gather_joined,
    inverse,
    keeps_order,
    reshape_source,
)
from compiler.registry import op_class


def sink_transposes(graph: Graph) -> Graph:
    """The graph with as few transposes as sinking leaves; inputs and outputs as before."""
    return _absorb_into_weights(_Sinking(graph).run())


@dataclass
class _Sinking:
    """One walk over the operators. ``deferred``: tensor to (source, permutation)."""

    graph: Graph
    ops: list[Op] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    deferred: dict[str, tuple[str, Permutation]] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)

    def run(self) -> Graph:
        self.tensors = dict(self.graph.tensors)
        for op in self.graph.ops:
            if op.kind == "transpose":
                self._defer(op)
                continue
            if op.kind == "reshape":
                self._sink_reshape(op)
                continue
            if not self._sink(op):
                self._keep(op)
        for name in self.graph.outputs:
            self._make(name)
        return _without_dead(self.graph.with_ops(self.ops, self.tensors.values()))

    def _source(self, name: str) -> tuple[str, Permutation]:
        identity = tuple(range(len(self.tensors[name].shape)))
        return self.deferred.get(name, (name, identity))

    def _defer(self, op: Op) -> None:
        source, inner = self._source(op.inputs[0])
        self.deferred[op.outputs[0]] = (source, apply(inner, op.params.permutation))

    def _sink_reshape(self, op: Op) -> None:
        """A reshape works on the source, once the axes that it joins lie side by side there."""
        source, permutation = self._source(op.inputs[0])
        old, name = self.tensors[source].shape, op.outputs[0]
        if keeps_order(old, permutation):
            self.ops.append(replace(op, inputs=(source,)))
            return
        reshaped = reshape_source(old, permutation, op.params.shape)
        if reshaped is None:
            step = gather_joined(old, permutation, op.params.shape)
            source = self._transposed(source, step)
            permutation = tuple(step.index(axis) for axis in permutation)
            reshaped = reshape_source(apply(old, step), permutation, op.params.shape)
            assert reshaped is not None, op.name
        shape, outer = reshaped
        if outer == tuple(range(len(outer))):
            self.ops.append(replace(op, inputs=(source,)))
            return
        inner = self._fresh(f"{name}/{''.join(map(str, inverse(outer)))}")
        self.tensors[inner] = replace(self.tensors[name], name=inner, shape=shape)
        params = ReshapeParams(shape)
        self.ops.append(replace(op, inputs=(source,), outputs=(inner,), params=params))
        self.deferred[name] = (inner, outer)

    def _keep(self, op: Op) -> None:
        for name in filter(None, op.inputs):
            self._make(name)
        inputs = tuple(self._final(name) if name else "" for name in op.inputs)
        self.ops.append(replace(op, inputs=inputs))

    def _final(self, name: str) -> str:
        """The tensor that holds ``name``'s value: its source, if nothing is left to transpose."""
        source, permutation = self._source(name)
        cancels = permutation == tuple(range(len(permutation)))
        return source if cancels and name not in self.graph.outputs else name

    def _make(self, name: str) -> None:
        """Emit the transpose that was deferred for ``name``, once."""
        if name not in self.deferred or name in self.made or self._final(name) != name:
            return
        self.made.add(name)
        source, permutation = self.deferred[name]
        shape = self.tensors[name].shape
        if keeps_order(self.tensors[source].shape, permutation):
            self.ops.append(Op("reshape", name, (source,), (name,), ReshapeParams(shape)))
        else:
            params = TransposeParams(permutation)
            self.ops.append(Op("transpose", name, (source,), (name,), params))

    def _sink(self, op: Op) -> bool:
        permutation = self._common_permutation(op)
        if permutation is None:
            return False
        sunk = self._sunk(op, permutation)
        if sunk is None:
            return False
        inputs = tuple(self._as_source(name, permutation) if name else "" for name in op.inputs)
        outputs = []
        for name in op.outputs:
            if sunk.permutation == tuple(range(len(sunk.permutation))):
                outputs.append(name)
                continue
            tensor = self.tensors[name]
            shape = apply(tensor.shape, inverse(sunk.permutation))
            inner = self._fresh(f"{name}/{''.join(map(str, inverse(sunk.permutation)))}")
            self.tensors[inner] = replace(tensor, name=inner, shape=shape)
            self.deferred[name] = (inner, sunk.permutation)
            outputs.append(inner)
        self.ops.append(replace(op, inputs=inputs, outputs=tuple(outputs), params=sunk.params))
        return True

    def _sunk(self, op: Op, permutation: Permutation) -> Sunk | None:
        rule = permuted.get(op.kind)
        if rule is not None:
            return rule(self.graph.view(op), permutation)
        if op_class.get(op.kind) in ("elementwise", "broadcast"):
            return Sunk(op.params, permutation)
        return None

    def _common_permutation(self, op: Op) -> Permutation | None:
        """The permutation that most activations share, if sinking does not cost more than it
        saves: those that lack it would have to be transposed."""
        found: dict[Permutation, int] = {}
        others = 0
        for name in dict.fromkeys(filter(None, op.inputs)):
            tensor = self.tensors[name]
            if tensor.is_state or any(self.tensors[o].is_state for o in op.outputs):
                return None
            if name in self.deferred:
                permutation = self.deferred[name][1]
                found[permutation] = found.get(permutation, 0) + 1
            elif not tensor.is_constant and tensor.elements > 1:
                others += 1
        moving = {p: n for p, n in found.items() if p != tuple(range(len(p)))}
        if not moving:
            return None
        best = max(moving, key=lambda p: moving[p])
        if any(len(self.tensors[o].shape) > len(best) for o in op.outputs):
            return None
        return best if moving[best] >= others + sum(found.values()) - moving[best] else None

    def _as_source(self, name: str, permutation: Permutation) -> str:
        """``name`` in the source's order of axes; broadcast inputs get their leading ones."""
        source, own = self._source(name)
        if own == permutation:
            return source
        tensor = self.tensors[name]
        if tensor.elements == 1 and len(tensor.shape) <= 1:
            return name
        full = (*(1,) * (len(permutation) - len(tensor.shape)), *tensor.shape)
        back = inverse(permutation)
        target = self._fresh(f"{name}/{''.join(map(str, back))}")
        shape = apply(full, back)
        if tensor.is_constant:
            self.tensors[target] = _permuted_constant(tensor, full, back, target)
            return target
        self._make(name)
        stretched = self._final(name)
        if full != tensor.shape:
            stretched = self._reshape(stretched, full, target)
        if keeps_order(full, back):
            return self._reshape(stretched, shape, target)
        return self._transposed(stretched, back)

    def _transposed(self, name: str, permutation: Permutation) -> str:
        tensor = self.tensors[name]
        target = self._fresh(f"{name}/{''.join(map(str, permutation))}")
        self.tensors[target] = replace(
            tensor, name=target, shape=apply(tensor.shape, permutation), data=None
        )
        params = TransposeParams(permutation)
        self.ops.append(Op("transpose", target, (name,), (target,), params))
        return target

    def _reshape(self, name: str, shape: Shape, base: str) -> str:
        target = self._fresh(base + "/reshape")
        self.tensors[target] = replace(self.tensors[name], name=target, shape=shape)
        self.ops.append(Op("reshape", target, (name,), (target,), ReshapeParams(shape)))
        return target

    def _fresh(self, name: str) -> str:
        while name in self.tensors:
            name += "_"
        return name


def _permuted_constant(tensor: Tensor, full: Shape, back: Permutation, name: str) -> Tensor:
    assert tensor.data is not None
    data = np.ascontiguousarray(tensor.data.reshape(full).transpose(back))
    quant = tensor.quant
    if quant is not None and quant.axis is not None:
        axis = quant.axis + len(full) - len(tensor.shape)
        quant = replace(quant, axis=back.index(axis))
    return replace(tensor, name=name, shape=data.shape, data=data, quant=quant)


def _without_dead(graph: Graph) -> Graph:
    wanted = set(graph.outputs)
    states = {t.name for t in graph.tensors.values() if t.is_state}
    kept = []
    for op in reversed(graph.ops):
        if wanted.intersection(op.outputs) or states.intersection((*op.inputs, *op.outputs)):
            wanted.update(op.inputs)
            kept.append(op)
    return graph.with_ops(reversed(kept))


def _absorb_into_weights(graph: Graph) -> Graph:
    """``fully_connected(reshape(transpose(x)))``: the weight's columns are permuted instead."""
    producers, consumers = graph.producers(), graph.consumers()
    ops, added = {id(op): op for op in graph.ops}, []
    for op in graph.ops:
        if op.kind != "fully_connected" or not graph.view(op).input(1).is_constant:
            continue
        flatten = producers.get(op.inputs[0])
        if flatten is None or flatten.kind != "reshape" or len(consumers[op.inputs[0]]) > 1:
            continue
        move = producers.get(flatten.inputs[0])
        if move is None or move.kind != "transpose" or len(consumers[flatten.inputs[0]]) > 1:
            continue
        weight = _columns_permuted(graph, op, flatten, move)
        if weight is None or {flatten.outputs[0], move.outputs[0]} & set(graph.outputs):
            continue
        added.append(weight)
        ops[id(op)] = replace(op, inputs=(op.inputs[0], weight.name, *op.inputs[2:]))
        ops[id(flatten)] = replace(flatten, inputs=move.inputs)
        del ops[id(move)]
    return graph.with_ops([ops[id(op)] for op in graph.ops if id(op) in ops], added)


def _columns_permuted(graph: Graph, op: Op, flatten: Op, move: Op) -> Tensor | None:
    """The weight for the untransposed activation; None unless rows stay rows."""
    shape = graph.tensors[move.outputs[0]].shape
    flat = graph.tensors[flatten.outputs[0]].shape
    permutation = move.params.permutation
    if permutation[0] != 0 or flat != (shape[0], math.prod(shape[1:])):
        return None
    weight = graph.view(op).input(1)
    assert weight.data is not None
    columns = weight.data.reshape(-1, *shape[1:]).transpose(0, *(inverse(permutation)[1:]))
    data = np.ascontiguousarray(columns.reshape(weight.shape))
    return replace(weight, name=f"{weight.name}/columns/{op.outputs[0]}", data=data)
