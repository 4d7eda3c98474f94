"""Quantized models: operators between DequantizeLinear and QuantizeLinear become integer ones.

    dequantize -> conv2d -> (clamp) -> quantize      becomes      conv2d on int8

Results are those of numerics ``tflite`` or ``fast``; ONNX Runtime's differ by one unit at most of
each operator's output. What does not fit stays float, between its two conversions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from compiler import registry
from compiler.graph import Graph, Op, OpView, Quantization, Tensor
from compiler.operators.elementwise import ClampParams
from compiler.operators.movement import ReshapeParams
from compiler.operators.quantization import QuantizeParams
from compiler.passes.remove_dead_code import remove_dead_code
from compiler.quantization.choose import quantized_bias
from compiler.quantization.operators import WeightedRule
from compiler.quantization.rule import QuantizeRule

#: Operators that rescale by themselves, though their rule makes scales equal.
RESCALES = ("clamp", "concat")
#: Operators that an integer operator's input or output may go through.
MOVES = ("reshape", "transpose")
#: Operators that take any output scale, though their rule fixes one (8 bits are a table).
FREE_SCALES = ("logistic", "tanh")


@dataclass(frozen=True, eq=False)
class Origin:
    """The integers that a float constant was: ``scales`` and ``zeros`` have one or more entries."""

    dtype: str
    scales: np.ndarray
    zeros: np.ndarray

    def quantized(self, tensor: Tensor, axis: int) -> Tensor | None:
        """The constant as int8 with channels along ``axis``, None where it cannot be so."""
        assert tensor.data is not None
        if self.dtype not in ("int8", "uint8"):
            return None
        per_channel = self.scales.size > 1
        if per_channel and tensor.shape[axis] != self.scales.size:
            return None
        shape = [-1 if i == axis and per_channel else 1 for i in range(len(tensor.shape))]
        scales = self.scales.astype(np.float64).reshape(shape if tensor.shape else ())
        zero = int(self.zeros.reshape(-1)[0]) - (128 if self.dtype == "uint8" else 0)
        if np.any(self.zeros != self.zeros.reshape(-1)[0]):
            return None
        steps = np.rint(tensor.data / scales)
        if not np.allclose(steps * scales, tensor.data, rtol=1e-5, atol=1e-12):
            return None  # the scales run along another axis
        data = steps + zero
        if data.min(initial=0) < -128 or data.max(initial=0) > 127:
            return None
        entries = tuple(float(scale) for scale in self.scales.reshape(-1))
        quant = Quantization(entries, (zero,) * len(entries), axis if per_channel else None)
        return Tensor(f"{tensor.name}/int8", tensor.shape, "int8", quant, data.astype(np.int8))


def fuse_qdq(graph: Graph, origins: Mapping[str, Origin]) -> Graph:
    """The graph with integer operators wherever both sides are converted and a rule allows it."""
    if not any(op.kind in ("quantize", "dequantize") for op in graph.ops):
        return graph
    return remove_dead_code(_Fusion(_signed(graph), origins).run())


def _signed(graph: Graph) -> Graph:
    """uint8 tensors with a scale as int8 (128 less): kernels for int8 are the fast ones."""
    twins = {
        name: Tensor(
            f"{name}/int8", t.shape, "int8",
            Quantization(t.quant.scale, tuple(z - 128 for z in t.quant.zero_point)),
        )
        for name, t in graph.tensors.items()
        if t.dtype == "uint8" and t.quant is not None and not t.is_constant
    }  # fmt: skip
    ops: list[Op] = []
    for name in graph.inputs:
        if name in twins:
            ops.append(Op("requantize", name, (name,), (twins[name].name,), QuantizeParams()))
    for op in graph.ops:
        is_signed = op.kind == "dequantize" or any(name in twins for name in op.outputs)
        swapped = {name: twin.name for name, twin in twins.items()} if is_signed else {}
        ops.append(
            replace(
                op,
                inputs=tuple(swapped.get(name, name) for name in op.inputs),
                outputs=tuple(swapped.get(name, name) for name in op.outputs),
            )
        )
        for name in op.outputs:
            if name in twins:
                ops.append(Op("requantize", name, (twins[name].name,), (name,), QuantizeParams()))
    return remove_dead_code(graph.with_ops(ops, twins.values()))


@dataclass(frozen=True)
class _After:
    """Behind an operator: what it shall make, the operators up to there, of those what moves
    elements, and a clamp."""

    target: Tensor
    passed: list[Op]
    moves: list[Op]
    clamp: tuple[float, float] | None


@dataclass
class _Fusion:
    graph: Graph
    origins: Mapping[str, Origin]
    tensors: dict[str, Tensor] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tensors = dict(self.graph.tensors)
        self.producers = self.graph.producers()
        self.consumers = self.graph.consumers()

    def run(self) -> Graph:
        gone: set[int] = set()
        for op in self.graph.ops:
            if id(op) in gone:
                continue
            fused = self._direct(op) or self._integer(op)
            if fused is None:
                self.ops.append(op)
            else:
                self.ops += fused[0]
                gone.update(id(each) for each in fused[1])
        return self.graph.with_ops(self.ops, self.tensors.values())

    def _source(self, name: str) -> Tensor | None:
        """The int8 tensor that float ``name`` is dequantized from, maybe moved in between."""
        producer = self.producers.get(name)
        if producer is None:
            return None
        if producer.kind == "dequantize":
            tensor = self.tensors[producer.inputs[0]]
            return tensor if tensor.dtype == "int8" and tensor.quant else None
        if producer.kind not in MOVES:
            return None
        source = self._source(producer.inputs[0])
        if source is None:
            return None
        moved = replace(self.tensors[name], name=f"{name}/int8", dtype="int8", quant=source.quant)
        if moved.name not in self.tensors:
            self.tensors[moved.name] = moved
            self.ops.append(replace(producer, inputs=(source.name,), outputs=(moved.name,)))
        return moved

    def _direct(self, op: Op) -> tuple[list[Op], list[Op]] | None:
        """A dequantize that is quantized again."""
        source = self._source(op.inputs[0]) if op.kind == "quantize" else None
        target = self.tensors[op.outputs[0]] if op.outputs else None
        if source is None or target is None or target.dtype != "int8":
            return None
        if source.quant == target.quant:
            params = ReshapeParams(source.shape)
            return [Op("reshape", op.name, (source.name,), op.outputs, params)], []
        return [Op("requantize", op.name, (source.name,), op.outputs, QuantizeParams())], []

    def _after(self, op: Op) -> _After | None:
        """What stands between the operator and the quantize of its output, if that is all."""
        passed: list[Op] = []
        moves: list[Op] = []
        clamp = None
        name = op.outputs[0]
        while len(op.outputs) == 1 and name not in self.graph.outputs:
            readers = self.consumers[name]
            if len(readers) != 1:
                return None
            (reader,) = readers
            passed.append(reader)
            name = reader.outputs[0]
            if reader.kind == "quantize":
                tensor = self.tensors[name]
                return _After(tensor, passed, moves, clamp) if tensor.dtype == "int8" else None
            if reader.kind in MOVES:
                moves.append(reader)
                continue
            takes = hasattr(op.params, "clamp") and isinstance(reader.params, ClampParams)
            if not takes or clamp is not None:
                return None
            clamp = (reader.params.low, reader.params.high)
        return None

    def _integer(self, op: Op) -> tuple[list[Op], list[Op]] | None:
        rule, view = registry.quantize.get(op.kind), self.graph.view(op)
        if not isinstance(rule, QuantizeRule) or not rule.applies(view):
            return None
        if rule.fixed(view, 0) is not None and op.kind not in FREE_SCALES:
            return None
        after = self._after(op)
        inputs = self._inputs(view, rule) if after is not None else None
        if after is None or inputs is None:
            return None
        params = op.params if after.clamp is None else replace(op.params, clamp=after.clamp)
        quant = after.target.quant
        quants = {self.tensors[name].quant for name in inputs if name}
        if rule.equal_scales and op.kind not in RESCALES and quants != {quant}:
            if len(quants) != 1:
                return None
            quant = quants.pop()
        chain = [replace(op, inputs=inputs, params=params), *after.moves]
        if quant != after.target.quant:
            chain.append(Op("requantize", op.name, ("",), ("",), QuantizeParams()))
        return self._connected(chain, after.target, quant), after.passed

    def _connected(self, chain: list[Op], target: Tensor, quant: Quantization | None) -> list[Op]:
        """The operators one behind the other, in int8, the last one making ``target``."""
        result: list[Op] = []
        for index, op in enumerate(chain):
            inputs = op.inputs if index == 0 else (result[-1].outputs[0],)
            output = target.name
            if index < len(chain) - 1:
                output = f"{target.name}/{index}"
                shape = self.tensors[op.outputs[0]].shape
                self.tensors[output] = Tensor(output, shape, "int8", quant)
            result.append(replace(op, inputs=inputs, outputs=(output,)))
        return result

    def _inputs(self, view: OpView, rule: QuantizeRule) -> tuple[str, ...] | None:
        """The operator's inputs as integers, None where one is not."""
        names = list(view.op.inputs)
        for index in rule.activations(view):
            source = self._source(names[index]) or self._constant(names[index])
            if source is None:
                return None
            names[index] = source.name
        if isinstance(rule, WeightedRule):
            weight = self._constant(names[1], rule.channel_axis)
            if weight is None or weight.quant is None:
                return None
            names[1] = weight.name
            bias = view.optional(2)
            if bias is not None:
                scales = np.broadcast_to(weight.quant.scale, bias.shape)
                tensor = quantized_bias(bias, scales, self.tensors[names[0]].scale)
                tensor = replace(tensor, name=f"{bias.name}/{view.op.outputs[0]}")
                self.tensors[tensor.name] = tensor
                names[2] = tensor.name
        return tuple(names)

    def _constant(self, name: str, axis: int = 0) -> Tensor | None:
        """A constant that was integers in the file."""
        tensor, origin = self.tensors[name], self.origins.get(name)
        if origin is None or not tensor.is_constant:
            return None
        result = origin.quantized(tensor, axis)
        if result is not None:
            self.tensors[result.name] = result
        return result
