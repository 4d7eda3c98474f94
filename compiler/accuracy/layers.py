"""Layer by layer: which tensors to compare, where precision is lost, and what to try there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compiler.accuracy.evaluate import Evaluation, Pair
from compiler.accuracy.metrics import sqnr_db
from compiler.graph import Graph, Op, Tensor
from compiler.options import BuildOptions
from compiler.quantization.linear import linear
from compiler.registry import op_class

#: How many of the worst layers are named, and below what ratio.
NAMED = 5
GOOD_DB = 30.0

#: About what int8 keeps of a signal that fits it: losses are counted from here.
CLEAN_DB = 40.0


@dataclass(frozen=True)
class Layer:
    """``sqnr_db`` of its output, errors of the layers before it included.

    ``lost_db`` is how much worse that is than the worst of its inputs.
    """

    name: str
    operator: str
    sqnr_db: float
    lost_db: float
    advice: tuple[str, ...] = ()


def layer_pairs(float_graph: Graph, graph: Graph) -> list[Pair]:
    """The outputs that both graphs compute; views are left out, they change nothing."""
    computed = {name for op in graph.ops for name in op.outputs}
    pairs = []
    for op in float_graph.ops:
        if op_class.get(op.kind) == "view":
            continue
        for name in op.outputs:
            twin = _counterpart(name, graph, computed)
            if twin is not None and float_graph.tensors[name].dtype == "float32":
                layer = op.name if len(op.outputs) == 1 else name
                scale = twin.scale if twin.quant else None
                pairs.append(Pair(layer, op.kind, name, twin.name, scale, twin.zero_point))
    return pairs


def _counterpart(name: str, graph: Graph, computed: set[str]) -> Tensor | None:
    """The tensor of the same name; an output's integers stand behind its dequantize."""
    for candidate in (f"{name}/int8", f"{name}/int16", name):
        tensor = graph.tensors.get(candidate)
        if tensor is None or candidate not in computed:
            continue
        if tensor.quant is not None or tensor.dtype == "float32":
            return tensor
    return None


def layers_of(
    float_graph: Graph, pairs: Sequence[Pair], found: Evaluation, options: BuildOptions
) -> list[Layer]:
    """One entry per pair, in the network's order; the worst carry advice."""
    ratio = {
        pair.float_name: sqnr_db(float(found.signal[:, i].sum()), float(found.noise[:, i].sum()))
        for i, pair in enumerate(pairs)
    }
    producers = float_graph.producers()
    layers = []
    for pair in pairs:
        before = _ratios_before(producers[pair.float_name], producers, ratio)
        lost = min([CLEAN_DB, *before]) - ratio[pair.float_name]
        layers.append(Layer(pair.layer, pair.operator, ratio[pair.float_name], max(lost, 0.0)))
    worst = set(worst_layers(layers))
    return [
        Layer(each.name, each.operator, each.sqnr_db, each.lost_db,
              _advice(pair.operator in linear, options))
        if i in worst else each
        for i, (each, pair) in enumerate(zip(layers, pairs, strict=True))
    ]  # fmt: skip


def _ratios_before(op: Op, producers: dict[str, Op], ratio: dict[str, float]) -> list[float]:
    """Those of the tensors that ``op`` reads, seen through views."""
    found: list[float] = []
    for name in op.inputs:
        if name in ratio:
            found.append(ratio[name])
        elif name in producers:
            found += _ratios_before(producers[name], producers, ratio)
    return found


def worst_layers(layers: Sequence[Layer], count: int = NAMED) -> list[int]:
    """Indices of those that lose most, or are noisiest, where that is worth a word."""
    noisy = [i for i, layer in enumerate(layers) if layer.sqnr_db < GOOD_DB]
    return sorted(noisy, key=lambda i: (-layers[i].lost_db, layers[i].sqnr_db))[:count]


def _advice(is_weighted: bool, options: BuildOptions) -> tuple[str, ...]:
    """What to try for this layer, the cheapest first."""
    if options.quantize == "none":
        return ("the float model with --quantize int8 or mixed: this file's scales are fixed",)
    advice = []
    if options.rounding == "nearest" and is_weighted:
        advice.append("--rounding adaptive")
    if options.ranges != "percentile":
        advice.append("--ranges percentile")
    if not options.equalize:
        advice.append("--equalize")
    return (*advice, "--quantize mixed: it keeps such layers in 16 bits")
