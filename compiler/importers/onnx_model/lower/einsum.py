"""Einsum, as matrix products of two operands at a time."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence

from compiler.errors import ModelError, UnsupportedError
from compiler.importers.onnx_model.node import Node, reads
from compiler.operators.matrix import BatchMatmulParams
from compiler.operators.movement import BroadcastToParams
from compiler.operators.reduction import ReduceParams

Term = tuple[str, str]  # a tensor, and a letter for each of its axes


@reads("Einsum")
def einsum(node: Node) -> str:
    inputs, output = _parsed(node)
    sizes: dict[str, int] = {}
    for name, letters in inputs:
        for letter, size in zip(letters, node.build.shape(name), strict=True):
            sizes[letter] = max(sizes.get(letter, 1), size)
    terms = [_full(node, term, sizes) for term in inputs]
    while len(terms) > 1:
        rest = {letter for _, letters in terms[2:] for letter in letters}
        terms[:2] = [_product(node, terms[0], terms[1], rest | set(output), sizes)]
    name, letters = _summed(node, terms[0], set(output))
    return node.build.transpose(name, [letters.index(letter) for letter in output])


def _parsed(node: Node) -> tuple[list[Term], str]:
    """The inputs and the output; an ellipsis gets upper-case letters that are not used."""
    equation = str(node.required("equation")).replace(" ", "")
    left, arrow, output = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(node.inputs):
        raise ModelError(f"equation '{equation}' is for {len(texts)} inputs")
    free = [letter for letter in string.ascii_uppercase if letter not in equation]
    most = max(
        (node.rank(i) - len(text.replace("...", "")) for i, text in enumerate(texts)), default=0
    )
    terms = []
    for index, text in enumerate(texts):
        hidden = node.rank(index) - len(text.replace("...", ""))
        letters = text.replace("...", "".join(free[most - hidden : most]))
        if len(letters) != node.rank(index):
            raise ModelError(f"equation '{equation}': '{text}' has not {node.rank(index)} axes")
        if len(set(letters)) < len(letters):
            raise UnsupportedError(f"equation '{equation}': a diagonal")
        terms.append((node.input(index), letters))
    if arrow:
        return terms, output.replace("...", "".join(free[:most]) if "..." in left else "")
    once = [c for c in sorted(set(left)) if c.isalpha() and left.count(c) == 1]
    return terms, ("".join(free[:most]) if "..." in left else "") + "".join(once)


def _full(node: Node, term: Term, sizes: Mapping[str, int]) -> Term:
    """Axes of size 1 broadcast to the others' size."""
    name, letters = term
    wanted = tuple(sizes[letter] for letter in letters)
    if node.build.shape(name) != wanted:
        name = node.build.emit("broadcast_to", name, params=BroadcastToParams(wanted))
    return name, letters


def _summed(node: Node, term: Term, wanted: set[str]) -> Term:
    """Without the axes that nothing else has."""
    name, letters = term
    gone = tuple(i for i, letter in enumerate(letters) if letter not in wanted)
    if gone:
        name = node.build.emit("sum", name, params=ReduceParams(gone))
    return name, "".join(letter for letter in letters if letter in wanted)


def _product(node: Node, a: Term, b: Term, wanted: set[str], sizes: Mapping[str, int]) -> Term:
    """One matrix product over the letters that both have and nothing else wants."""
    a, b = _summed(node, a, wanted | set(b[1])), _summed(node, b, wanted | set(a[1]))
    both = [letter for letter in a[1] if letter in b[1]]
    batch = [letter for letter in both if letter in wanted]
    inner = [letter for letter in both if letter not in wanted]
    rows = [letter for letter in a[1] if letter not in both]
    columns = [letter for letter in b[1] if letter not in both]

    def count(letters: Sequence[str]) -> int:
        return math.prod(sizes[letter] for letter in letters)

    left = _ordered(node, a, [*batch, *rows, *inner], (count(batch), count(rows), count(inner)))
    right = _ordered(
        node, b, [*batch, *inner, *columns], (count(batch), count(inner), count(columns))
    )
    y = node.build.emit("batch_matmul", left, right, params=BatchMatmulParams())
    letters = [*batch, *rows, *columns]
    return node.build.reshape(y, [sizes[letter] for letter in letters]), "".join(letters)


def _ordered(node: Node, term: Term, order: list[str], shape: tuple[int, ...]) -> str:
    name, letters = term
    name = node.build.transpose(name, [letters.index(letter) for letter in order])
    return node.build.reshape(name, shape)
