"""Weights as integers such that the layer's output changes least, and biases that make up for it.

The error to keep small is ``E |(W - Q) x|^2`` over the calibration inputs x, AdaRound's objective
(Nagel et al. 2020, arXiv:2004.10568). It is quadratic in Q, with the second moments of x as its
matrix, so no gradients are needed: column by column, each column's error goes into those that
follow (Frantar et al. 2022, arXiv:2210.17323). The mean of the error goes into the bias.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from compiler.executor import make_runner
from compiler.graph import Graph, Op, OpView, Quantization, Tensor
from compiler.quantization.choose import WEIGHT_MAX, channel_scales
from compiler.quantization.linear import LinearForm, linear
from compiler.report.progress import Progress, silent

Array = np.ndarray

#: Longer rows are cut into pieces of this many weights, taken to be independent.
MOST_COLUMNS = 1536

#: Added to the moments' diagonal, relative to its mean: inputs that calibration did not show.
DAMPING = 0.01

#: Scales that are tried, relative to the one that just reaches the largest weight.
FRACTIONS = np.linspace(1.0, 0.7, 13)

#: Columns whose errors move on together.
BLOCK = 32


#: Inputs of this size or larger, infinity among them, teach nothing about rounding.
LARGEST = 1e15


@dataclass
class Moments:
    """Of a layer's input patches: sums of x and x x^T, per group and piece of a row."""

    first: Array  # (G, K)
    second: list[Array]  # (G, k, k) each, the k's adding up to K; or none
    count: int = 0

    def add(self, patches: Array) -> None:
        """``patches`` (G, P, K); those whose squares overflow float32 are left out."""
        kept = (np.abs(patches) < LARGEST).all(axis=(0, 2))
        patches = patches[:, kept]
        self.first += patches.sum(axis=1, dtype=np.float64)
        start = 0
        for piece in self.second:
            part = patches[:, :, start : start + piece.shape[1]]
            piece += part.transpose(0, 2, 1) @ part
            start += piece.shape[1]
        self.count += patches.shape[1]


def _pieces(columns: int) -> list[int]:
    count = -(-columns // MOST_COLUMNS)
    edges = np.linspace(0, columns, count + 1).astype(int)
    return [int(size) for size in np.diff(edges)]


def weighted_ops(graph: Graph) -> list[Op]:
    """Operators with a constant weight whose ``linear`` form is known, one for each weight.

    A weight that several operators share is left as it is.
    """
    users: dict[str, int] = {}
    found = []
    for op in graph.ops:
        form = linear.get(op.kind)
        if form is None:
            continue
        view = graph.view(op)
        bias = view.optional(2)
        is_constant = view.input(1).is_constant and (bias is None or bias.is_constant)
        if is_constant and view.input(0).dtype == view.input(1).dtype == "float32":
            users[op.inputs[1]] = users.get(op.inputs[1], 0) + 1
            found.append(op)
    return [op for op in found if users[op.inputs[1]] == 1]


def improve_weights(
    graph: Graph,
    samples: Sequence[Mapping[str, Array]],
    rounding: str = "nearest",
    progress: Progress = silent,
) -> Graph:
    """The float graph with weights on their int8 grid, and biases corrected for the change.

    ``rounding`` is "nearest" or "adaptive". The bias takes up the mean change of each output over
    the samples.
    """
    is_adaptive = rounding == "adaptive"
    moments = collect_moments(graph, samples, is_adaptive, progress)
    return prepare_weights(graph, moments, is_adaptive, progress)


def collect_moments(
    graph: Graph,
    samples: Sequence[Mapping[str, Array]],
    second: bool = True,
    progress: Progress = silent,
) -> dict[str, Moments]:
    """Moments of the inputs of every operator in `weighted_ops`, by the weight's name."""
    readers: dict[str, list[Op]] = {}
    for op in weighted_ops(graph):
        readers.setdefault(op.inputs[0], []).append(op)
    moments: dict[str, Moments] = {}

    def observe(name: str, value: Array) -> None:
        for op in readers.get(name, ()):
            view = graph.view(op)
            form = linear[op.kind]
            weight = op.inputs[1]
            if weight not in moments:
                rows = form.rows(view, _data(view.input(1)))
                groups, columns = rows.shape[0], rows.shape[2]
                sizes = _pieces(columns) if second else []
                squares = [np.zeros((groups, k, k), np.float32) for k in sizes]
                moments[weight] = Moments(np.zeros((groups, columns)), squares)
            moments[weight].add(np.asarray(form.patches(view, value), np.float32))

    executor = make_runner(graph, sorted(readers)).open()
    for sample in progress(samples, "looking at layers"):
        for name in graph.inputs:
            observe(name, np.asarray(sample[name]))
        executor.run(sample, lambda n, v: None if n in graph.inputs else observe(n, v))
    return moments


def _data(tensor: Tensor) -> Array:
    assert tensor.data is not None
    return tensor.data


def prepare_weights(
    graph: Graph,
    moments: Mapping[str, Moments],
    is_adaptive: bool,
    progress: Progress = silent,
) -> Graph:
    """The float graph with weights that lie on their int8 grid, which they carry as ``quant``.

    ``is_adaptive``: rounded so that outputs change least, else to the nearest.
    """
    tensors = dict(graph.tensors)
    ops = {id(op): op for op in graph.ops}
    for op in progress(weighted_ops(graph), "rounding weights"):
        found = moments.get(op.inputs[1])
        if found is None or not found.count:
            continue
        view, form = graph.view(op), linear[op.kind]
        weight = view.input(1)
        rows = form.rows(view, _data(weight)).astype(np.float64)
        scales = _row_scales(rows, found) if is_adaptive else _largest(view, form)
        steps = _adapted(rows, scales, found) if is_adaptive else _nearest(rows, scales)
        rounded = steps * scales[..., None]
        quant = Quantization(
            tuple(map(float, scales.reshape(-1))), (0,) * scales.size, form.channel_axis
        )
        data = form.weight(view, rounded).astype(np.float32)
        tensors[weight.name] = replace(weight, data=data, quant=quant)
        shift = np.einsum("gok,gk->go", rows - rounded, found.first / found.count)
        ops[id(op)] = _shift_bias(op, view, shift.reshape(-1), tensors)
    changed = tuple(ops[id(op)] for op in graph.ops)
    return graph.replace(tensors=tensors).with_ops(changed)


def _shift_bias(op: Op, view: OpView, shift: Array, tensors: dict[str, Tensor]) -> Op:
    """The operator with ``shift`` added to a bias of its own."""
    bias = view.optional(2)
    old = 0.0 if bias is None else _data(bias).astype(np.float64)
    name = f"{op.outputs[0]}/bias"
    while name in tensors:
        name += "_"
    tensors[name] = Tensor(name, shift.shape, "float32", data=(old + shift).astype(np.float32))
    return replace(op, inputs=(*op.inputs[:2], name))


def _largest(view: OpView, form: LinearForm) -> Array:
    """(G, O) scales that reach the largest weight."""
    scales = channel_scales(_data(view.input(1)), form.channel_axis)
    groups = form.rows(view, _data(view.input(1))).shape[0]
    return np.where(scales == 0, 1.0 / WEIGHT_MAX, scales).reshape(groups, -1)


def _nearest(rows: Array, scales: Array) -> Array:
    return np.clip(np.rint(rows / scales[..., None]), -WEIGHT_MAX, WEIGHT_MAX)


def _row_scales(rows: Array, moments: Moments) -> Array:
    """(G, O) scales with the least error of rounding to the nearest, by the inputs' power."""
    power = np.concatenate([np.einsum("gkk->gk", piece) for piece in moments.second], axis=1)
    largest = np.abs(rows).max(axis=2) / WEIGHT_MAX
    largest = np.where(largest == 0, 1.0 / WEIGHT_MAX, largest)
    best, least = largest, np.full(largest.shape, np.inf)
    for fraction in FRACTIONS:
        scales = largest * fraction
        error = np.square(_nearest(rows, scales) * scales[..., None] - rows)
        total = np.einsum("gok,gk->go", error, power.astype(np.float64))
        best = np.where(total < least, scales, best)
        least = np.minimum(total, least)
    return np.asarray(best, np.float32).astype(np.float64)


def _adapted(rows: Array, scales: Array, moments: Moments) -> Array:
    """Integers (G, O, K) that change the layer's output least."""
    parts, start = [], 0
    for second in moments.second:
        width = second.shape[1]
        columns = rows[:, :, start : start + width] / scales[..., None]
        parts.append(_adapt_piece(columns, second.astype(np.float64) / moments.count))
        start += width
    return np.concatenate(parts, axis=2)


def _adapt_piece(rows: Array, moments: Array) -> Array:
    """Integers for ``rows`` (G, O, K), already in steps, by second moments (G, K, K)."""
    diagonal = np.einsum("gkk->gk", moments)
    level = diagonal.mean(axis=1, keepdims=True)
    level = np.where(level == 0, 1.0, level)
    matrix = moments + (DAMPING * level)[..., None] * np.eye(moments.shape[1])
    # The columns with the most power go first: the others can still make up for their errors.
    order = np.argsort(-diagonal, axis=1, kind="stable")
    back = np.argsort(order, axis=1)
    matrix = np.take_along_axis(np.take_along_axis(matrix, order[:, :, None], 1),
                                order[:, None, :], 2)  # fmt: skip
    exact = np.take_along_axis(rows, order[:, None, :], 2)
    steps = _feed_back(exact, matrix)
    return np.take_along_axis(steps, back[:, None, :], 2)


def _feed_back(exact: Array, matrix: Array) -> Array:
    """Round column by column; the error moves on to where it does least harm.

    By blocks: within one it moves at once, to the columns after it in one product.
    """
    upper = np.linalg.cholesky(np.linalg.inv(matrix)).transpose(0, 2, 1)
    rest, steps, errors = exact.copy(), np.empty_like(exact), np.empty_like(exact)
    columns = exact.shape[2]
    for start in range(0, columns, BLOCK):
        end = min(start + BLOCK, columns)
        for k in range(start, end):
            steps[:, :, k] = np.clip(np.rint(rest[:, :, k]), -WEIGHT_MAX, WEIGHT_MAX)
            error = (rest[:, :, k] - steps[:, :, k]) / upper[:, k, k][:, None]
            rest[:, :, k + 1 : end] -= error[:, :, None] * upper[:, k, k + 1 : end][:, None, :]
            errors[:, :, k] = error
        rest[:, :, end:] -= errors[:, :, start:end] @ upper[:, start:end, end:]
    return steps
