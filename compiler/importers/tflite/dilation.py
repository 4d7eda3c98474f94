"""Dilated convolutions that a file writes as space-to-batch, convolution, batch-to-space.

    x -> SPACE_TO_BATCH_ND(block, paddings) -> CONV (VALID, stride 1) -> BATCH_TO_SPACE_ND -> y

is one convolution with dilation ``block`` and padding ``paddings - crops``.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.importers.tflite.model_file import FileOperator, FileSubgraph
from compiler.importers.tflite.schema import schema

_CONVOLUTIONS = {"CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions"}


def fold_space_to_batch(subgraph: FileSubgraph) -> FileSubgraph:
    """The subgraph with every such triple as one convolution."""
    readers: dict[int, list[FileOperator]] = {}
    for op in subgraph.operators:
        for index in op.inputs:
            readers.setdefault(index, []).append(op)
    gone: set[int] = set()
    folded: dict[int, FileOperator] = {}
    for first in subgraph.operators:
        triple = _triple(first, readers, subgraph)
        result = _fold(*triple, subgraph) if triple else None
        if triple and result:
            gone.update((id(first), id(triple[1])))
            folded[id(triple[2])] = result
    return replace(
        subgraph,
        operators=tuple(folded.get(id(op), op) for op in subgraph.operators if id(op) not in gone),
    )


def _triple(
    first: FileOperator, readers: dict[int, list[FileOperator]], subgraph: FileSubgraph
) -> tuple[FileOperator, FileOperator, FileOperator] | None:
    """(space-to-batch, convolution, batch-to-space), each the only reader of the one before."""
    if first.kind != "SPACE_TO_BATCH_ND":
        return None
    chain = [first]
    for kinds in (tuple(_CONVOLUTIONS), ("BATCH_TO_SPACE_ND",)):
        output = chain[-1].outputs[0]
        users = readers.get(output, [])
        if len(users) != 1 or users[0].kind not in kinds or output in subgraph.outputs:
            return None
        if users[0].inputs[0] != output:
            return None
        chain.append(users[0])
    return chain[0], chain[1], chain[2]


def _fold(
    first: FileOperator, convolution: FileOperator, last: FileOperator, subgraph: FileSubgraph
) -> FileOperator | None:
    blocks = [subgraph.tensors[op.inputs[1]].data for op in (first, last)]
    edges = [subgraph.tensors[op.inputs[2]].data for op in (first, last)]
    if any(value is None for value in (*blocks, *edges)) or not _is_plain(convolution):
        return None
    (block, other), (paddings, crops) = blocks, edges
    assert block is not None and other is not None and paddings is not None and crops is not None
    if block.shape != (2,) or (block != other).any() or paddings.shape != (2, 2):
        return None
    padding = (paddings - crops).reshape(-1)
    if (padding < 0).any():
        return None
    top, bottom, left, right = (int(value) for value in padding)
    return replace(
        convolution,
        inputs=(first.inputs[0], *convolution.inputs[1:]),
        outputs=last.outputs,
        dilation=(int(block[0]), int(block[1])),
        padding=(top, bottom, left, right),
    )


def _is_plain(op: FileOperator) -> bool:
    """Whether a convolution has stride 1, dilation 1 and VALID padding."""
    if op.table is None or op.options_type != _CONVOLUTIONS[op.kind]:
        return False
    options = getattr(schema(), op.options_type)()
    options.Init(op.table.Bytes, op.table.Pos)
    ones = (
        options.StrideH(), options.StrideW(), options.DilationHFactor(), options.DilationWFactor()
    )  # fmt: skip
    return ones == (1, 1, 1, 1) and options.Padding() == schema().Padding.VALID
