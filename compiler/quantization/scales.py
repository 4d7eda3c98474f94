"""Decides which operators become integer ones, and the quantization of each activation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from compiler.graph import Graph, Op, OpView, Quantization
from compiler.quantization.choose import LIMITS, Range, activation_quantization
from compiler.quantization.rule import QuantizeRule
from compiler.registry import quantize

#: A tensor in one of its integer versions: (name, dtype).
Version = tuple[str, str]

#: The ranges that calibration chose, by dtype: int16 can afford to clip nothing.
Ranges = Mapping[str, Mapping[str, Range]]

#: What each operator should become, by identity: "int8", "int16" or "float".
Precision = Mapping[int, str]


@dataclass(frozen=True, eq=False)
class Scales:
    """``dtypes``: what the operators become that become integer ones, by identity.

    ``quantization``: of each of their activations. ``produced``: where an operator fixes another
    quantization for its output than its readers take, the one that it fixes.
    """

    dtypes: Mapping[int, str]
    quantization: Mapping[Version, Quantization]
    produced: Mapping[Version, Quantization]


def rule_of(view: OpView) -> QuantizeRule | None:
    """The rule by which this operator becomes an integer one; None if it stays float."""
    rule: QuantizeRule | None = quantize.get(view.op.kind)
    if rule is None or not rule.applies(view):
        return None
    wanted = rule.activations(view)
    tensors = [view.input(i) for i in wanted]
    return rule if tensors and all(t.dtype == "float32" for t in tensors) else None


def activations_of(view: OpView, rule: QuantizeRule) -> list[str]:
    """Names of the tensors that become integers with this operator: inputs, then outputs."""
    inputs = [view.op.inputs[i] for i in rule.activations(view)]
    return inputs + [t.name for t in view.outputs if t.dtype == "float32"]


class _Groups:
    """Disjoint sets of versions that must have equal scales."""

    def __init__(self) -> None:
        self._parent: dict[Version, Version] = {}

    def find(self, version: Version) -> Version:
        parent = self._parent.setdefault(version, version)
        if parent != version:
            self._parent[version] = self.find(parent)
        return self._parent[version]

    def join(self, versions: Iterable[Version]) -> None:
        roots = [self.find(version) for version in versions]
        for root in roots[1:]:
            self._parent[self.find(root)] = self.find(roots[0])

    def members(self) -> dict[Version, list[Version]]:
        groups: dict[Version, list[Version]] = {}
        for version in self._parent:
            groups.setdefault(self.find(version), []).append(version)
        return groups


@dataclass
class _Choice:
    """The walk that collects groups, ranges and fixed quantizations."""

    graph: Graph
    ranges: dict[Version, Range]
    precision: Precision
    groups: _Groups = field(default_factory=_Groups)
    fixed: dict[Version, Quantization] = field(default_factory=dict)
    readers: dict[str, int] = field(default_factory=dict)

    def run(self) -> Scales:
        dtypes: dict[int, str] = {}
        self.readers = {name: len(ops) for name, ops in self.graph.consumers().items()}
        for name in self.graph.outputs:
            self.readers[name] += 1
        for op in reversed(self.graph.ops):
            view = self.graph.view(op)
            rule = rule_of(view)
            dtype = self.precision.get(id(op), "int8")
            if rule is None or dtype not in rule.dtypes:
                continue
            if self._has_ranges(view, rule, dtype):
                dtypes[id(op)] = dtype
                if rule.narrows and self.readers[op.inputs[0]] == 1:
                    self.ranges[op.inputs[0], dtype] = self.ranges[op.outputs[0], dtype]
        for op in self.graph.ops:
            if id(op) in dtypes:
                self._collect(op, dtypes[id(op)])
        quantization, produced = self._choose()
        return Scales(dtypes, quantization, produced)

    def _has_ranges(self, view: OpView, rule: QuantizeRule, dtype: str) -> bool:
        """Constants bring their own range; an activation that was never computed has none."""
        for name in activations_of(view, rule):
            data = self.graph.tensors[name].data
            version = name, dtype
            if version not in self.ranges and data is not None and np.isfinite(data).all():
                self.ranges[version] = (float(data.min()), float(data.max()))
            if version not in self.ranges:
                return False
        return True

    def _collect(self, op: Op, dtype: str) -> None:
        view = self.graph.view(op)
        rule = rule_of(view)
        assert rule is not None
        versions = [(name, dtype) for name in activations_of(view, rule)]
        for version in versions:
            self.groups.find(version)
            low, high = self.ranges[version]
            extremes = rule.extremes(view)
            self.ranges[version] = (min((low, *extremes)), max((high, *extremes)))
        if rule.equal_scales and not (rule.narrows and self.readers[versions[0][0]] > 1):
            self.groups.join(versions)
        for index, name in enumerate(op.outputs):
            fixed = rule.fixed(view, index, dtype)
            if fixed is not None:
                self.fixed[name, dtype] = fixed

    def _choose(self) -> tuple[dict[Version, Quantization], dict[Version, Quantization]]:
        quantization: dict[Version, Quantization] = {}
        produced: dict[Version, Quantization] = {}
        for members in self.groups.members().values():
            fixed = {self.fixed[version] for version in members if version in self.fixed}
            chosen = self._for_group(members, fixed)
            for version in members:
                quantization[version] = chosen
                if version in self.fixed and self.fixed[version] != chosen:
                    produced[version] = self.fixed[version]
        return quantization, produced

    def _for_group(self, members: list[Version], fixed: set[Quantization]) -> Quantization:
        """A fixed quantization serves the whole group if it covers the others' ranges."""
        dtype = members[0][1]
        free = [self.ranges[version] for version in members if version not in self.fixed]
        if len(fixed) == 1:
            (only,) = fixed
            low, high = _limits(only, dtype)
            slack = only.scale[0]
            if all(low - slack <= a and b <= high + slack for a, b in free):
                return only
        every = [self.ranges[version] for version in members]
        return activation_quantization(min(r[0] for r in every), max(r[1] for r in every), dtype)


def _limits(quant: Quantization, dtype: str) -> Range:
    scale, zero = quant.scale[0], quant.zero_point[0]
    low, high = LIMITS[dtype]
    return (low - zero) * scale, (high - zero) * scale


def choose_scales(graph: Graph, ranges: Ranges, precision: Precision) -> Scales:
    """Quantization of every activation of the operators that can be integer ones.

    Tensors that an operator ties together share one, which covers all their ranges. An operator
    that ``precision`` does not name is int8 if it can be.
    """
    versions = {(name, dtype): r for dtype, of in ranges.items() for name, r in of.items()}
    return _Choice(graph, versions, precision).run()
