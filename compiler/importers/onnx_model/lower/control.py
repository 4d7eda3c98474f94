"""If, Loop and Scan, whose course is known while reading: the branch, or the turns one by one."""

from __future__ import annotations

import numpy as np
import onnx

from compiler.errors import UnsupportedError
from compiler.importers.onnx_model.node import Node, reads
from compiler.operators.movement import SliceParams

MOST_TURNS = 1024  # of a loop that is unrolled


@reads("If")
def if_(node: Node) -> list[str]:
    """The branch that is taken; of a condition computed at run time both, and then a choice."""
    condition = node.data(0)
    if condition is not None:
        taken = "then_branch" if condition.any() else "else_branch"
        return node.inline(node.required(taken), ())
    build = node.build
    sides = [node.inline(node.required(name), ()) for name in ("then_branch", "else_branch")]
    choice = build.reshape(node.input(0), ())
    results = []
    for yes, no in zip(*sides, strict=True):
        first, second = build.tensors[build.plain(yes)], build.tensors[build.plain(no)]
        if (first.shape, first.dtype) != (second.shape, second.dtype):
            node.constant(0, "the condition, on which an output's shape depends, is")
        results.append(build.emit("select", choice, first.name, second.name, dtype=first.dtype))
    return results


@reads("Loop")
def loop(node: Node) -> list[str]:
    """Inputs: trips, condition, carried...; the body's: turn, condition, carried....

    The body's outputs: condition, carried..., and what is stacked turn by turn.
    """
    build = node.build
    body: onnx.GraphProto = node.required("body")
    trips = int(node.constant(0, "the trip count").reshape(())) if node.has(0) else None
    go_on = bool(node.constant(1, "the condition").reshape(())) if node.has(1) else True
    carried, turn = list(node.inputs[2:]), 0
    stacked: list[list[str]] = [[] for _ in range(len(body.output) - 1 - len(carried))]
    condition = build.constant(np.asarray(go_on), "condition")
    while go_on and (trips is None or turn < trips):
        if turn == MOST_TURNS:
            raise UnsupportedError(f"more than {MOST_TURNS} turns of a loop")
        count = build.constant(np.asarray(turn, np.int64), "turn")
        condition, *results = node.inline(body, (count, condition, *carried))
        carried = results[: len(carried)]
        for parts, value in zip(stacked, results[len(carried) :], strict=True):
            parts.append(build.reshape(value, (1, *build.shape(value))))
        known = build.data(condition)
        if known is None:
            raise UnsupportedError("a loop whose condition is computed at run time")
        go_on, turn = bool(known.reshape(())), turn + 1
    if stacked and not turn:
        raise UnsupportedError("a loop without turns, which stacks nothing")
    return [*carried, *(node.build.concat(parts, 0) for parts in stacked)]


@reads("Scan")
def scan(node: Node) -> list[str]:
    """Inputs: states..., sequences...; before opset 9 lengths first, and a batch axis."""
    if node.opset < 9:
        return _scan_batches(node)
    body: onnx.GraphProto = node.required("body")
    count = int(node.required("num_scan_inputs"))
    states, sequences = list(node.inputs[:-count]), list(node.inputs[-count:])
    outputs = len(body.output) - len(states)
    in_axes, out_axes = (
        [int(a) for a in node.attribute(name, [0] * size)]
        for name, size in (("scan_input_axes", count), ("scan_output_axes", outputs))
    )
    backwards, reversed_ = (
        [bool(d) for d in node.attribute(name, [0] * size)]
        for name, size in (("scan_input_directions", count), ("scan_output_directions", outputs))
    )
    finals, stacks = _scanned(node, body, states, sequences, in_axes, backwards)
    joined = []
    for parts, axis, back in zip(stacks, out_axes, reversed_, strict=True):
        shape = node.build.shape(parts[0])
        axis = axis % (len(shape) + 1)
        wide = [node.build.reshape(p, (*shape[:axis], 1, *shape[axis:])) for p in parts]
        joined.append(node.build.concat(wide[::-1] if back else wide, axis))
    return [*finals, *joined]


def _scanned(
    node: Node,
    body: onnx.GraphProto,
    states: list[str],
    sequences: list[str],
    axes: list[int],
    backwards: list[bool],
) -> tuple[list[str], list[list[str]]]:
    """The last states, and each further output turn by turn."""
    build = node.build
    axes = [axis % len(build.shape(s)) for axis, s in zip(axes, sequences, strict=True)]
    turns = build.shape(sequences[0])[axes[0]]
    if turns > MOST_TURNS:
        raise UnsupportedError(f"{turns} turns of a scan; at most {MOST_TURNS} are unrolled")
    stacks: list[list[str]] = [[] for _ in range(len(body.output) - len(states))]
    for turn in range(turns):
        elements = [
            _element(node, name, axis, turns - 1 - turn if back else turn)
            for name, axis, back in zip(sequences, axes, backwards, strict=True)
        ]
        results = node.inline(body, (*states, *elements))
        states = results[: len(states)]
        for parts, value in zip(stacks, results[len(states) :], strict=True):
            parts.append(value)
    return states, stacks


def _scan_batches(node: Node) -> list[str]:
    """Opset 8: everything has a batch axis first, which is taken sample by sample."""
    build, body = node.build, node.required("body")
    if node.has(0):
        raise UnsupportedError("sequences of several lengths")
    count = int(node.required("num_scan_inputs"))
    given = node.inputs[1:]
    columns: list[list[str]] = [[] for _ in body.output]
    for sample in range(build.shape(given[0])[0]):
        parts = [_element(node, name, 0, sample) for name in given]
        backwards = [bool(d) for d in node.attribute("directions", [0] * count)]
        finals, stacks = _scanned(
            node, body, parts[:-count], parts[-count:], [0] * count, backwards
        )
        stacked = [
            build.concat([build.reshape(p, (1, *build.shape(p))) for p in stack], 0)
            for stack in stacks
        ]
        for column, value in zip(columns, (*finals, *stacked), strict=True):
            column.append(build.reshape(value, (1, *build.shape(value))))
    return [node.build.concat(column, 0) for column in columns]


def _element(node: Node, name: str, axis: int, index: int) -> str:
    """One element along ``axis``, which goes."""
    build = node.build
    shape, data = build.shape(name), build.data(name)
    if data is not None:
        return build.constant(data.take(index, axis), "element")
    begin = tuple(index if i == axis else 0 for i in range(len(shape)))
    size = tuple(1 if i == axis else full for i, full in enumerate(shape))
    part = build.emit("slice", name, params=SliceParams(begin, size, (1,) * len(shape)))
    return build.reshape(part, (*shape[:axis], *shape[axis + 1 :]))
