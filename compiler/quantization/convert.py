"""Rewrites a float graph into an integer one, once the scales are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from compiler.graph import Graph, Op, OpView, Tensor
from compiler.operators.quantization import QuantizeParams
from compiler.quantization.choose import Range, quantized_constant
from compiler.quantization.scales import (
    Precision,
    Ranges,
    Scales,
    Version,
    choose_scales,
    rule_of,
)


def quantize_int8(graph: Graph, ranges: Mapping[str, Range]) -> Graph:
    """The graph with int8 operators wherever a ``quantize`` rule allows it; see `quantize`."""
    return quantize(graph, {"int8": ranges})


def quantize(
    graph: Graph,
    ranges: Ranges,
    precision: Precision | None = None,
    improved: Graph | None = None,
) -> Graph:
    """The graph with integer operators wherever a rule allows it and ``precision`` wants it.

    ``graph`` is canonical (batch norms folded, activations fused); ``ranges`` come from
    ``calibrate``. Inputs and outputs stay float, behind ``quantize`` and ``dequantize``; operators
    without a rule stay float too. Weights are int8 per channel, symmetric in [-127, 127]; biases
    int32 (int64 with 16-bit activations) with scale input * weight; int8 activations asymmetric
    with an exact zero, int16 ones symmetric. Between operators of unlike precision stands a
    ``requantize``. ``improved`` is the graph with weights and biases prepared for integers, by
    ``improve_weights``; what stays float keeps its own.
    """
    twins = {op.outputs[0]: op for op in improved.ops} if improved is not None else {}
    scales = choose_scales(graph, ranges, precision or {})
    return _Conversion(graph, scales, twins, improved or graph).run()


@dataclass
class _Conversion:
    """The walk that emits: ``integer`` and ``real`` name the versions of each tensor."""

    graph: Graph
    scales: Scales
    twins: Mapping[str, Op]  # the operators of ``improved``, by their first output
    improved: Graph
    tensors: dict[str, Tensor] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)
    integer: dict[Version, str] = field(default_factory=dict)
    real: dict[str, str] = field(default_factory=dict)
    made_as: dict[str, str] = field(default_factory=dict)  # dtype in which an operator makes it

    def run(self) -> Graph:
        self.tensors = dict(self.graph.tensors)
        self._convert_states()
        for op in self.graph.ops:
            if id(op) in self.scales.dtypes:
                self._integer(op, self.scales.dtypes[id(op)])
            else:
                inputs = tuple(self._as_real(name) if name else "" for name in op.inputs)
                self.ops.append(replace(op, inputs=inputs))
        for name in self.graph.outputs:
            self._as_real(name)
        return self.graph.with_ops(self.ops, self.tensors.values())

    def _convert_states(self) -> None:
        """A state that an integer operator writes holds integers from the beginning."""
        for op in self.graph.ops:
            dtype = self.scales.dtypes.get(id(op))
            for name in op.outputs if dtype is not None else ():
                state = self.graph.tensors[name]
                if state.is_state and dtype is not None:
                    quant = self.scales.quantization[name, dtype]
                    data = None if state.data is None else quantized_constant(state, quant, dtype)
                    self.tensors[name] = replace(state, dtype=dtype, quant=quant, data=data)
                    self.integer[name, dtype] = name
                    self.made_as[name] = dtype

    def _fresh(self, name: str) -> str:
        while name in self.tensors:
            name += "_"
        return name

    def _integer(self, op: Op, dtype: str) -> None:
        view = self.graph.view(op)
        rule = rule_of(view)
        assert rule is not None
        twin = self.twins.get(op.outputs[0], op)
        inputs = list(twin.inputs)
        for index in rule.activations(view):
            inputs[index] = self._as_integer(op.inputs[index], dtype)
        outputs = [self._output(name, dtype) for name in op.outputs]
        converted = replace(op, inputs=tuple(inputs), outputs=tuple(o for o, _ in outputs))
        prepared = {name: self.improved.tensors[name] for name in twin.inputs[1:] if name}
        constants = {name: t for name, t in prepared.items() if t.is_constant}
        current = self.graph.replace(tensors={**self.tensors, **constants})
        for index, tensor in rule.constants(OpView(converted, current)).items():
            inputs[index] = self._constant(twin.inputs[index], tensor)
        self.ops.append(replace(converted, inputs=tuple(inputs)))
        for made, wanted in outputs:
            if wanted != made:
                self._convert("requantize", made, wanted)

    def _convert(self, kind: str, source: str, target: str) -> None:
        self.ops.append(Op(kind, target, (source,), (target,), QuantizeParams()))

    def _output(self, name: str, dtype: str) -> tuple[str, str]:
        """(tensor that the operator makes, tensor that its readers take) for output ``name``."""
        tensor = self.tensors[name]
        if tensor.dtype != "float32" or tensor.is_state:
            return name, name
        version = name, dtype
        quant = self.scales.quantization[version]
        target = self._fresh(f"{name}/{dtype}") if name in self.graph.outputs else name
        self.tensors[target] = replace(tensor, name=target, dtype=dtype, quant=quant)
        self.integer[version] = target
        self.made_as[name] = dtype
        fixed = self.scales.produced.get(version)
        if fixed is None:
            return target, target
        made = self._fresh(f"{name}/fixed")
        self.tensors[made] = replace(tensor, name=made, dtype=dtype, quant=fixed)
        return made, target

    def _as_integer(self, name: str, dtype: str) -> str:
        """``name`` in ``dtype``: a constant converted, else converted once."""
        version = name, dtype
        if version in self.integer:
            return self.integer[version]
        tensor, quant = self.graph.tensors[name], self.scales.quantization[version]
        target = self._fresh(f"{name}/{dtype}")
        self.integer[version] = target
        self.tensors[target] = Tensor(target, tensor.shape, dtype, quant)
        if tensor.is_constant:
            data = quantized_constant(tensor, quant, dtype)
            self.tensors[target] = replace(self.tensors[target], data=data)
        elif name in self.made_as:
            self._convert("requantize", self.integer[name, self.made_as[name]], target)
        else:
            self._convert("quantize", name, target)
        return target

    def _as_real(self, name: str) -> str:
        """The float version of ``name``, dequantized once if an integer operator makes it."""
        if name not in self.made_as:
            return name
        if name in self.real:
            return self.real[name]
        float_tensor = self.graph.tensors[name]
        target = name if name in self.graph.outputs else self._fresh(f"{name}/float")
        self.real[name] = target
        self.tensors[target] = replace(float_tensor, name=target)
        self._convert("dequantize", self.integer[name, self.made_as[name]], target)
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
