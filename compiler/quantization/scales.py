"""Decides which operators become int8, and the one quantization of each activation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from compiler.graph import Graph, Op, OpView, Quantization
from compiler.quantization.choose import Range, activation_quantization
from compiler.quantization.rule import QuantizeRule
from compiler.registry import quantize


@dataclass(frozen=True, eq=False)
class Scales:
    """``integer``: the operators that become int8, by identity.

    ``quantization``: of each of their activations. ``produced``: where an operator fixes another
    quantization for its output than its readers take, the one that it fixes.
    """

    integer: frozenset[int]
    quantization: Mapping[str, Quantization]
    produced: Mapping[str, Quantization]


def rule_of(view: OpView) -> QuantizeRule | None:
    """The rule by which this operator becomes int8; None if it stays float."""
    rule: QuantizeRule | None = quantize.get(view.op.kind)
    if rule is None or not rule.applies(view):
        return None
    wanted = rule.activations(view)
    tensors = [view.input(i) for i in wanted]
    return rule if tensors and all(t.dtype == "float32" for t in tensors) else None


def activations_of(view: OpView, rule: QuantizeRule) -> list[str]:
    """Names of the tensors that become int8 with this operator: inputs, then outputs."""
    inputs = [view.op.inputs[i] for i in rule.activations(view)]
    return inputs + [t.name for t in view.outputs if t.dtype == "float32"]


class _Groups:
    """Disjoint sets of tensors that must have equal scales."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def find(self, name: str) -> str:
        parent = self._parent.setdefault(name, name)
        if parent != name:
            self._parent[name] = self.find(parent)
        return self._parent[name]

    def join(self, names: Iterable[str]) -> None:
        roots = [self.find(name) for name in names]
        for root in roots[1:]:
            self._parent[self.find(root)] = self.find(roots[0])

    def members(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for name in self._parent:
            groups.setdefault(self.find(name), []).append(name)
        return groups


@dataclass
class _Choice:
    """The walk that collects groups, ranges and fixed quantizations."""

    graph: Graph
    ranges: dict[str, Range]
    groups: _Groups = field(default_factory=_Groups)
    fixed: dict[str, Quantization] = field(default_factory=dict)
    readers: dict[str, int] = field(default_factory=dict)

    def run(self) -> Scales:
        integer = set()
        self.readers = {name: len(ops) for name, ops in self.graph.consumers().items()}
        for name in self.graph.outputs:
            self.readers[name] += 1
        for op in reversed(self.graph.ops):
            view = self.graph.view(op)
            rule = rule_of(view)
            if rule is not None and self._has_ranges(view, rule):
                integer.add(id(op))
                if rule.narrows and self.readers[op.inputs[0]] == 1:
                    self.ranges[op.inputs[0]] = self.ranges[op.outputs[0]]
        for op in self.graph.ops:
            if id(op) in integer:
                self._collect(op)
        quantization, produced = self._choose()
        return Scales(frozenset(integer), quantization, produced)

    def _has_ranges(self, view: OpView, rule: QuantizeRule) -> bool:
        """Constants bring their own range; an activation that was never computed has none."""
        for name in activations_of(view, rule):
            data = self.graph.tensors[name].data
            if name not in self.ranges and data is not None and np.isfinite(data).all():
                self.ranges[name] = (float(data.min()), float(data.max()))
            if name not in self.ranges:
                return False
        return True

    def _collect(self, op: Op) -> None:
        view = self.graph.view(op)
        rule = rule_of(view)
        assert rule is not None
        names = activations_of(view, rule)
        for name in names:
            self.groups.find(name)
            low, high = self.ranges[name]
            extremes = rule.extremes(view)
            self.ranges[name] = (min((low, *extremes)), max((high, *extremes)))
        if rule.equal_scales and not (rule.narrows and self.readers[names[0]] > 1):
            self.groups.join(names)
        for index, name in enumerate(op.outputs):
            fixed = rule.fixed(view, index)
            if fixed is not None:
                self.fixed[name] = fixed

    def _choose(self) -> tuple[dict[str, Quantization], dict[str, Quantization]]:
        quantization: dict[str, Quantization] = {}
        produced: dict[str, Quantization] = {}
        for members in self.groups.members().values():
            fixed = {self.fixed[name] for name in members if name in self.fixed}
            chosen = self._for_group(members, fixed)
            for name in members:
                quantization[name] = chosen
                if name in self.fixed and self.fixed[name] != chosen:
                    produced[name] = self.fixed[name]
        return quantization, produced

    def _for_group(self, members: list[str], fixed: set[Quantization]) -> Quantization:
        """A fixed quantization serves the whole group if it covers the others' ranges."""
        free = [self.ranges[name] for name in members if name not in self.fixed]
        if len(fixed) == 1:
            (only,) = fixed
            low, high = _limits(only)
            slack = only.scale[0]
            if all(low - slack <= a and b <= high + slack for a, b in free):
                return only
        every = [self.ranges[name] for name in members]
        return activation_quantization(min(r[0] for r in every), max(r[1] for r in every))


def _limits(quant: Quantization) -> Range:
    scale, zero = quant.scale[0], quant.zero_point[0]
    return (-128 - zero) * scale, (127 - zero) * scale


def choose_scales(graph: Graph, ranges: Mapping[str, Range]) -> Scales:
    """Quantization of every activation of the operators that can be int8.

    Tensors that an operator ties together share one, which covers all their ranges.
    """
    return _Choice(graph, dict(ranges)).run()
