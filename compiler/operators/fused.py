"""Operators that only fusion makes: a table of one byte, and several float operators in one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from compiler.graph import Op, OpView, Shape, Tensor
from compiler.operators.elementwise import ARITHMETIC, UNARY
from compiler.registry import Attribute, classify, params, reference, shape

Array = np.ndarray


@params.of("lookup")
@dataclass(frozen=True)
class LookupParams:
    """Input x and output of 8 bits; ``table`` has the output's byte for each byte of x.

    ``kinds`` are the operators that it stands for.
    """

    table: bytes = field(repr=False)
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stage:
    """One operator of a chain. ``operands``: which values it takes (see ``ChainParams``)."""

    kind: str
    params: Any
    operands: tuple[int, ...]


@params.of("elementwise_chain")
@dataclass(frozen=True)
class ChainParams:
    """Any number of float32 inputs, broadcast; the output is what the last stage computes.

    Values are numbered: 0 to n - 1 are the inputs, n + i is the result of stage i. A stage takes
    those before its own. Every stage's result has the shape of the output. ``tails[i]`` zeros
    follow input i along its last axis; () where no input has any.
    """

    stages: tuple[Stage, ...]
    tails: tuple[int, ...] = ()


MAX_STAGES = 16
MAX_INPUTS = 8  # besides constants of one element
MAX_NUMBERS = 16  # constants of one element


classify("lookup", "elementwise")
classify("elementwise_chain", "broadcast")

#: ``chainable``: whether the operator may be a stage of a chain: elementwise or broadcasting, on
#: float32, computed without branches (one that branches would keep the others from vectorising).
chainable: Attribute[bool] = Attribute("chainable")
chainable.of(
    *(kind for kind in UNARY if kind not in ("sin", "cos", "tan", "logical_not")),
    "clamp", "leaky_relu", "elu", "gelu", *ARITHMETIC, "maximum", "minimum",
    "squared_difference", "floor_div", "prelu",
)(True)  # fmt: skip


@shape.of("lookup")
def _lookup_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(view.input(0).shape, view.output().dtype)]


@reference.of("lookup")
def _lookup(view: OpView, x: Array) -> Array:
    table = np.frombuffer(view.params.table, np.uint8)
    return table[x.view(np.uint8)].view(view.output().dtype)


@shape.of("elementwise_chain")
def _chain_shape(view: OpView) -> list[tuple[Shape, str]]:
    return [(np.broadcast_shapes(*(tensor.shape for tensor in chain_values(view))), "float32")]


def chain_values(view: OpView) -> list[Tensor]:
    """The inputs of a chain as its stages see them: with their tails."""
    tensors = [view.input(index) for index in range(len(view.op.inputs))]
    tails = view.params.tails or (0,) * len(tensors)
    return [
        replace(t, name=f"{t.name}/{tail}", shape=(*t.shape[:-1], t.shape[-1] + tail), data=None)
        if tail
        else t
        for t, tail in zip(tensors, tails, strict=True)
    ]


def stage_views(view: OpView) -> Iterator[OpView]:
    """Every stage of a chain as the operator that it was, in order."""
    values = chain_values(view)
    tensors = {tensor.name: tensor for tensor in values}
    graph = view.graph.replace(tensors=tensors)
    for index, stage in enumerate(view.params.stages):
        result = Tensor(f"{view.op.name}/{index}", view.output().shape, "float32")
        tensors[result.name] = result
        inputs = tuple(values[operand].name for operand in stage.operands)
        values.append(result)
        yield graph.view(Op(stage.kind, view.op.name, inputs, (result.name,), stage.params))


@reference.of("elementwise_chain")
def _chain(view: OpView, *inputs: Array) -> Array:
    tails = view.params.tails or (0,) * len(inputs)
    values = [
        np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, tail)]) if tail else x
        for x, tail in zip(inputs, tails, strict=True)
    ]
    for stage, part in zip(view.params.stages, stage_views(view), strict=True):
        result = reference[stage.kind](part, *(values[operand] for operand in stage.operands))
        values.append(np.asarray(result))
    return values[-1]
