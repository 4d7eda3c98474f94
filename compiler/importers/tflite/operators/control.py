"""IF and WHILE: the operators of the subgraphs become the graph's own.

Of an IF whose condition is computed in the run, both sides are computed and one is selected: a
subgraph has no effects but its outputs. How often a WHILE repeats must be known.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Tensor
from compiler.importers.tflite.node import Node, reads
from compiler.operators.elementwise import SelectParams
from compiler.operators.movement import ReshapeParams


def _inputs(node: Node, first: int) -> list[Tensor]:
    return [node.input(index) for index in range(first, len(node.inputs))]


def _pass_on(node: Node, values: Sequence[Tensor]) -> None:
    """``values`` are the node's outputs."""
    for value, output in zip(values, node.outputs, strict=True):
        node.build.add("reshape", (value,), ReshapeParams(value.shape), (output,))


@reads("IF")
def if_(node: Node) -> None:
    options = node.options("IfOptions")
    condition, inputs = node.input(0), _inputs(node, 1)
    numbers = options.ThenSubgraphIndex(), options.ElseSubgraphIndex()
    if condition.elements != 1 or condition.dtype != "bool":
        raise ModelError(f"its condition is {condition.dtype}{list(condition.shape)}, not one bool")
    if condition.data is not None:
        chosen = numbers[0] if condition.data.reshape(-1)[0] else numbers[1]
        _pass_on(node, node.run_subgraph(chosen, inputs))
        return
    scalar = node.inner("reshape", (condition,), ReshapeParams(()))
    both = [node.run_subgraph(number, inputs) for number in numbers]
    for a, b, output in zip(*both, node.outputs, strict=True):
        if (a.shape, a.dtype, a.quant) != (b.shape, b.dtype, b.quant):
            raise UnsupportedError("its sides give tensors of different shapes, types or scales")
        node.build.add("select", (scalar, a, b), SelectParams(), (output,))


@reads("WHILE")
def while_(node: Node) -> None:
    options = node.options("WhileOptions")
    values = _inputs(node, 0)
    while _goes_on(node, options.CondSubgraphIndex(), values):
        values = node.run_subgraph(options.BodySubgraphIndex(), values)
    _pass_on(node, values)


def _goes_on(node: Node, number: int, values: Sequence[Tensor]) -> bool:
    results = node.run_subgraph(number, values)
    if len(results) != 1 or results[0].elements != 1:
        raise ModelError("its condition is not one value; get the file again")
    if results[0].data is None:
        raise UnsupportedError("how often it repeats is only known in the run")
    return bool(results[0].data.reshape(-1)[0])
