"""Space to batch and back, where they are not part of a dilated convolution."""

from __future__ import annotations

import math

from compiler.errors import ModelError
from compiler.importers.tflite.node import Node, reads
from compiler.operators.movement import PadParams, ReshapeParams, SliceParams, TransposeParams


def _block(node: Node, what: str) -> tuple[tuple[int, ...], list[tuple[int, int]]]:
    """(block sizes, (before, after) per blocked axis)."""
    block = node.integers(1, "block")
    edges = node.array(2, what).reshape(-1, 2)
    if len(edges) != len(block) or (edges < 0).any() or min(block, default=0) < 1:
        raise ModelError(f"block {block} and {what} {edges.tolist()} do not fit together")
    if len(node.input(0).shape) <= len(block):
        raise ModelError(f"block {block} has too many axes for {list(node.input(0).shape)}")
    return block, [(int(before), int(after)) for before, after in edges]


@reads("SPACE_TO_BATCH_ND")
def space_to_batch(node: Node) -> None:
    """(N, H, W, ...) -> pad -> (N, H/b, b, W/b, b, ...) -> (b, b, N, H/b, W/b, ...) -> 4D."""
    block, edges = _block(node, "paddings")
    count = len(block)
    tensor = node.input(0)
    spare = (0,) * (len(tensor.shape) - 1 - count)
    before = (0, *(edge[0] for edge in edges), *spare)
    after = (0, *(edge[1] for edge in edges), *spare)
    padded = node.inner("pad", (tensor,), PadParams(before, after))
    batch, *space = padded.shape[: count + 1]
    rest = padded.shape[count + 1 :]
    if any(size % step for size, step in zip(space, block, strict=True)):
        raise ModelError(f"padded shape {list(padded.shape)} is no multiple of block {block}")
    cut = [n for size, step in zip(space, block, strict=True) for n in (size // step, step)]
    split = node.inner("reshape", (padded,), ReshapeParams((batch, *cut, *rest)))
    order = (
        *range(2, 2 * count + 1, 2), 0, *range(1, 2 * count + 1, 2),
        *range(2 * count + 1, len(split.shape)),
    )  # fmt: skip
    moved = node.inner("transpose", (split,), TransposeParams(order))
    shape = (batch * math.prod(block), *cut[::2], *rest)
    node.emit("reshape", (moved,), ReshapeParams(shape))


@reads("BATCH_TO_SPACE_ND")
def batch_to_space(node: Node) -> None:
    """(b*b*N, H, W, ...) -> (b, b, N, H, W, ...) -> (N, H, b, W, b, ...) -> 4D -> crop."""
    block, crops = _block(node, "crops")
    count = len(block)
    tensor = node.input(0)
    batch, *space = tensor.shape[: count + 1]
    rest = tensor.shape[count + 1 :]
    if batch % math.prod(block):
        raise ModelError(f"batch {batch} is no multiple of block {block}")
    batch //= math.prod(block)
    split = node.inner("reshape", (tensor,), ReshapeParams((*block, batch, *space, *rest)))
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    order = (count, *pairs, *range(2 * count + 1, len(split.shape)))
    moved = node.inner("transpose", (split,), TransposeParams(order))
    full = (batch, *(n * b for n, b in zip(space, block, strict=True)), *rest)
    joined = node.inner("reshape", (moved,), ReshapeParams(full))
    begin = (0, *(crop[0] for crop in crops), *(0,) * len(rest))
    size = (
        batch,
        *(n - crop[0] - crop[1] for n, crop in zip(full[1:], crops, strict=False)),
        *rest,
    )
    node.emit("slice", (joined,), SliceParams(begin, size, (1,) * len(full)))
