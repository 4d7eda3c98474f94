"""How much noise each operator adds by itself when it becomes an integer one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.graph import Graph, Op
from compiler.numerics import dequantize_array, quantize_array
from compiler.registry import reference
from compiler.simulator import Simulator

#: Samples that are looked at: noise is an average over many elements already.
SAMPLES = 2

_CONVERSIONS = ("quantize", "dequantize", "requantize")


def own_noise(
    graph: Graph, quantized: Graph, samples: Sequence[Mapping[str, np.ndarray]]
) -> dict[str, float]:
    """Noise over signal power of each integer operator on exact inputs, by its output's name.

    ``quantized`` is made from ``graph``; its operators are fed the float values, rounded.
    """
    noise: dict[str, float] = {}
    signal: dict[str, float] = {}
    for index in np.linspace(0, len(samples) - 1, min(SAMPLES, len(samples))).astype(int):
        values: dict[str, np.ndarray] = {n: np.asarray(v) for n, v in samples[index].items()}
        Simulator(graph).run(samples[index], values.__setitem__)
        for op in quantized.ops:
            if op.kind in _CONVERSIONS:
                continue
            name = _original(op.outputs[0])
            found = _evaluate(quantized, op, values)
            if found is not None and name in values:
                exact = values[name].astype(np.float64)
                noise[name] = noise.get(name, 0.0) + float(np.square(found - exact).sum())
                signal[name] = signal.get(name, 0.0) + float(np.square(exact).sum())
    return {name: noise[name] / max(signal[name], 1e-30) for name in noise}


def _original(name: str) -> str:
    """The float tensor that an integer one stands for."""
    for ending in ("/int8", "/int16", "/fixed"):
        name = name.removesuffix(ending)
    return name


def _evaluate(graph: Graph, op: Op, values: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """The operator's first output, dequantized, on float values rounded to its inputs' scales."""
    view = graph.view(op)
    if view.output().quant is None:
        return None
    arguments: list[np.ndarray | None] = []
    for tensor in view.inputs:
        if tensor is None or tensor.is_constant:
            arguments.append(None if tensor is None else tensor.data)
            continue
        value = values.get(_original(tensor.name))
        if value is None or tensor.quant is None:
            return None
        arguments.append(quantize_array(value, tensor.scale, tensor.zero_point, tensor.dtype))
    result = reference[op.kind](view, *arguments)
    first = result[0] if isinstance(result, tuple) else result
    return dequantize_array(first, view.output()).astype(np.float64)
