"""Steps in execution order, each with the kernel that was chosen for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.errors import UnsupportedError
from compiler.graph import Graph, OpView
from compiler.kernels import Call, Input, Kernel, kernels_of


@dataclass(frozen=True, eq=False)
class Step:
    """One kernel call on the board."""

    index: int
    view: OpView
    kernel: Kernel
    call: Call

    @property
    def name(self) -> str:
        return self.view.op.name

    @property
    def weight_bytes(self) -> int:
        """Constants that it reads: made at compile time, or as they stand in the file."""
        given = (self.view.inputs[b.index] for b in self.call.buffers if isinstance(b, Input))
        return self.call.weight_bytes + sum(t.bytes for t in given if t and t.is_constant)


@dataclass(frozen=True)
class Place:
    """Where a tensor lies: ``offset`` bytes into the buffer named ``buffer``."""

    buffer: str
    offset: int


@dataclass(frozen=True)
class LiveBuffer:
    """``bytes`` of the arena that are one buffer's from step ``first`` to step ``last``.

    -1 is before the first step (inputs are written), the number of steps is after the last
    (outputs are read). A ``fixed`` buffer holds state: it keeps its bytes between runs.
    """

    name: str
    bytes: int
    first: int
    last: int
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class Schedule:
    """``places`` has every non-constant tensor; views and in-place results share buffers.

    ``buffers`` has those buffers, and each step's scratch (named by ``scratch_name``).
    """

    graph: Graph
    chain: tuple[str, ...]  # targets, most special first
    steps: tuple[Step, ...]
    places: Mapping[str, Place]
    alignment: int
    buffers: tuple[LiveBuffer, ...] = ()


def scratch_name(step: int, operand: int) -> str:
    """The buffer of the ``Scratch`` that is operand ``operand`` of step ``step``."""
    return f"scratch {step}.{operand}"


def choose_kernel(view: OpView, chain: tuple[str, ...]) -> Kernel:
    """The cheapest kernel of the first target in ``chain`` that has one that fits."""
    dtype = next((t.dtype for t in view.inputs if t is not None), view.output().dtype)
    for target in chain:
        fitting = [
            k for k in kernels_of(view.op.kind, target) if dtype in k.dtypes and k.fits(view)
        ]
        if fitting:
            return min(fitting, key=lambda k: (k.cost(view), k.name))
    raise UnsupportedError(
        f"operator '{view.op.kind}' ({view.op.name}): no kernel of "
        f"{' -> '.join(chain)} takes {dtype} {list(view.input(0).shape) if view.op.inputs else ''}"
        f"; `ops` lists what is supported"
    )
