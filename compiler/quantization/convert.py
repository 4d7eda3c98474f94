"""Rewrites a float graph into an int8 one, once the scales are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from compiler.graph import Graph, Op, OpView, Tensor
from compiler.operators.quantization import QuantizeParams
from compiler.quantization.choose import Range, quantized_constant
from compiler.quantization.scales import Scales, choose_scales, rule_of


def quantize_int8(graph: Graph, ranges: Mapping[str, Range]) -> Graph:
    """The graph with int8 operators wherever a ``quantize`` rule allows it.

    ``graph`` is canonical (batch norms folded, activations fused); ``ranges`` come from
    ``calibrate``. Inputs and outputs stay float, behind ``quantize`` and ``dequantize``; operators
    without a rule stay float too. Weights are per channel, symmetric in [-127, 127]; biases int32
    with scale input * weight; activations asymmetric with an exact zero.
    """
    return _Conversion(graph, choose_scales(graph, ranges)).run()


@dataclass
class _Conversion:
    """The walk that emits: ``int8`` and ``real`` name the two versions of each tensor."""

    graph: Graph
    scales: Scales
    tensors: dict[str, Tensor] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)
    int8: dict[str, str] = field(default_factory=dict)
    real: dict[str, str] = field(default_factory=dict)
    from_float: set[str] = field(default_factory=set)  # int8 versions of floats that are there

    def run(self) -> Graph:
        self.tensors = dict(self.graph.tensors)
        self._convert_states()
        for op in self.graph.ops:
            if id(op) in self.scales.integer:
                self._integer(op)
            else:
                inputs = tuple(self._as_real(name) if name else "" for name in op.inputs)
                self.ops.append(replace(op, inputs=inputs))
        for name in self.graph.outputs:
            self._as_real(name)
        return self.graph.with_ops(self.ops, self.tensors.values())

    def _convert_states(self) -> None:
        """A state that an integer operator writes is int8 from the beginning."""
        for op in self.graph.ops:
            for name in op.outputs if id(op) in self.scales.integer else ():
                state = self.graph.tensors[name]
                if state.is_state:
                    quant = self.scales.quantization[name]
                    data = None if state.data is None else quantized_constant(state, quant)
                    self.tensors[name] = replace(state, dtype="int8", quant=quant, data=data)
                    self.int8[name] = name

    def _fresh(self, name: str) -> str:
        while name in self.tensors:
            name += "_"
        return name

    def _integer(self, op: Op) -> None:
        view = self.graph.view(op)
        rule = rule_of(view)
        assert rule is not None
        inputs = list(op.inputs)
        for index in rule.activations(view):
            inputs[index] = self._as_int8(op.inputs[index])
        outputs = [self._output(name) for name in op.outputs]
        converted = replace(op, inputs=tuple(inputs), outputs=tuple(o for o, _ in outputs))
        current = self.graph.replace(tensors=self.tensors)
        for index, tensor in rule.constants(OpView(converted, current)).items():
            inputs[index] = self._constant(op.inputs[index], tensor)
        self.ops.append(replace(converted, inputs=tuple(inputs)))
        for made, wanted in outputs:
            if wanted != made:
                self.ops.append(Op("requantize", wanted, (made,), (wanted,), QuantizeParams()))

    def _output(self, name: str) -> tuple[str, str]:
        """(tensor that the operator makes, tensor that its readers take) for output ``name``."""
        tensor = self.tensors[name]
        if tensor.dtype != "float32" or tensor.is_state:
            return name, name
        quant = self.scales.quantization[name]
        target = self._fresh(f"{name}/int8") if name in self.graph.outputs else name
        self.tensors[target] = replace(tensor, name=target, dtype="int8", quant=quant)
        self.int8[name] = target
        fixed = self.scales.produced.get(name)
        if fixed is None:
            return target, target
        made = self._fresh(f"{name}/fixed")
        self.tensors[made] = replace(tensor, name=made, dtype="int8", quant=fixed)
        return made, target

    def _as_int8(self, name: str) -> str:
        """The int8 version of ``name``: a constant converted, else quantized once."""
        if name in self.int8:
            return self.int8[name]
        tensor, quant = self.graph.tensors[name], self.scales.quantization[name]
        target = self._fresh(f"{name}/int8")
        self.int8[name] = target
        self.tensors[target] = Tensor(target, tensor.shape, "int8", quant)
        if tensor.is_constant:
            self.tensors[target] = replace(
                self.tensors[target], data=quantized_constant(tensor, quant)
            )
        else:
            self.ops.append(Op("quantize", target, (name,), (target,), QuantizeParams()))
            self.from_float.add(target)
        return target

    def _as_real(self, name: str) -> str:
        """The float version of ``name``, dequantized once if an integer operator makes it."""
        if name not in self.int8 or self.graph.tensors[name].is_constant:
            return name
        if name in self.real:
            return self.real[name]
        source, float_tensor = self.int8[name], self.graph.tensors[name]
        if source in self.from_float:
            return name
        target = name if name in self.graph.outputs else self._fresh(f"{name}/float")
        self.real[name] = target
        self.tensors[target] = replace(float_tensor, name=target)
        self.ops.append(Op("dequantize", target, (source,), (target,), QuantizeParams()))
        return target

    def _constant(self, name: str, tensor: Tensor) -> str:
        """Add an integer constant made from ``name``, or find the same one added before."""
        target = f"{name}/{tensor.dtype}"
        while target in self.tensors and not _same(self.tensors[target], tensor):
            target += "_"
        self.tensors[target] = replace(tensor, name=target)
        return target


def _same(a: Tensor, b: Tensor) -> bool:
    assert a.data is not None and b.data is not None
    return a.quant == b.quant and a.dtype == b.dtype and np.array_equal(a.data, b.data)
