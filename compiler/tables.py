"""The 256-entry tables that functions of one byte become: exact by construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from compiler.graph import Graph, Op, OpView, Shape, Tensor
from compiler.registry import reference

ENTRIES = 256


def byte_table(graph: Graph, ops: Sequence[Op], source: str) -> bytes:
    """What the last of ``ops`` makes of each value of the 8-bit tensor ``source``.

    ``ops`` are elementwise, in order, and depend on ``source`` and constants of one element only.
    The table is in the order of the unsigned byte: entry ``(uint8_t)x`` is the output for x. It
    is what the `reference` attributes compute.
    """
    involved = {name for op in ops for name in (*op.inputs, *op.outputs) if name}
    tensors = {name: _stretched(graph.tensors[name]) for name in involved}
    small = graph.replace(tensors=tensors)
    values = {name: t.data for name, t in tensors.items() if t.is_constant}
    values[source] = np.arange(ENTRIES, dtype=np.uint8).view(tensors[source].dtype)
    result = np.zeros(0)
    for op in ops:
        arguments = [values[name] if name else None for name in op.inputs]
        computed = reference[op.kind](small.view(op), *arguments)
        assert isinstance(computed, np.ndarray)
        result = values[op.outputs[0]] = computed
    assert result.shape == (ENTRIES,) and result.itemsize == 1
    return result.tobytes()


def _stretched(tensor: Tensor) -> Tensor:
    """The tensor with as many elements as the table has entries; constants have one."""
    if not tensor.is_constant:
        return replace(tensor, shape=(ENTRIES,))
    assert tensor.data is not None
    return replace(tensor, shape=(1,), data=tensor.data.reshape(1))


def of_shape(view: OpView, shape: Shape) -> OpView:
    """The same operator on tensors of another shape."""
    names = {*view.op.inputs, *view.op.outputs}
    tensors = {
        name: replace(t, shape=shape) if name in names else t
        for name, t in view.graph.tensors.items()
    }
    return view.graph.replace(tensors=tensors).view(view.op)
