"""What a target's ``kernels.py`` registers: a C kernel, when it fits, and how it is called.

A kernel is a C function in ``targets/<target>/kernels/<source>``:

    static inline void <name>(const struct <struct> *shape, buffer 0, buffer 1, ...)

The emitter writes one ``static const struct`` per distinct shape and one call; ``call`` says
what stands in the struct and which buffers follow, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from compiler.graph import OpView
from compiler.registry import count_macs

#: A value of a C struct member: a number, the name of a C constant, or an array of either.
Field = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]


@dataclass(frozen=True)
class Input:
    """The tensor ``view.inputs[index]``, in the arena or, if constant, in the blob as it is."""

    index: int


@dataclass(frozen=True)
class Output:
    """The tensor ``view.outputs[index]``, in the arena."""

    index: int


@dataclass(frozen=True, eq=False)
class Constant:
    """Data made at compile time (packed weights, multipliers, tables), in the blob."""

    data: np.ndarray
    role: str  # what it is, for reports: "weights", "bias", "multiplier", "table"


@dataclass(frozen=True)
class Scratch:
    """Bytes of the arena that are free before and after the step."""

    bytes: int


Buffer = Input | Output | Constant | Scratch


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a kernel: the constants of ``struct`` and the buffers, in C order."""

    struct: str
    fields: Mapping[str, Field]
    buffers: tuple[Buffer, ...]

    @property
    def scratch_bytes(self) -> int:
        return sum(b.bytes for b in self.buffers if isinstance(b, Scratch))

    @property
    def weight_bytes(self) -> int:
        return sum(b.data.nbytes for b in self.buffers if isinstance(b, Constant))


class Kernel:
    """One C implementation of an operator, or of several that it does alike.

    Subclass it and decorate with ``@kernel``.
    """

    name: ClassVar[str]  # "<op>_<dtype>__<isa>[_<tile>]": C function and registered name
    ops: ClassVar[tuple[str, ...]]
    target: ClassVar[str]
    source: ClassVar[str]  # C header below targets/<target>/kernels/, or below ``folder``
    folder: ClassVar[Path | None] = None  # of a plugin's header, which then is part of the output
    dtypes: ClassVar[tuple[str, ...]]  # dtypes of input 0 that it takes, for the support table
    shareable: ClassVar[bool] = True  # False: the body is only any good with a constant shape

    def fits(self, view: OpView) -> bool:
        """Whether the kernel can do this very operator. Input 0's dtype is already checked."""
        return True

    def call(self, view: OpView) -> Call:
        """How it is called here. Scratch sizes come from the same place as the dispatch."""
        raise NotImplementedError

    def cost(self, view: OpView) -> float:
        """Estimated cycles, to choose among kernels of one target."""
        return float(count_macs(view) or view.output().elements)

    def in_place(self, view: OpView) -> Mapping[int, int | tuple[int, ...]]:
        """Outputs that may overwrite an input: {output index: input index, or any of several}.

        The output then starts where the input does and is no larger. Only where the kernel
        reads no element after it has overwritten it (a tail that is done over again does),
        also where another operand is the same tensor.
        """
        return {}


_kernels: dict[str, list[Kernel]] = {}  # by operator
_by_name: dict[str, Kernel] = {}


def kernel(
    op: str | tuple[str, ...],
    *,
    target: str,
    name: str,
    source: str,
    dtypes: tuple[str, ...],
    folder: Path | None = None,
) -> Callable[[type[Kernel]], type[Kernel]]:
    """Class decorator: register one instance of the kernel, for one or several operators.

    ``folder`` is for plugins: where ``source`` lies. Such a header may include Kiln's own.
    """

    def register(cls: type[Kernel]) -> type[Kernel]:
        if name in _by_name:
            raise ValueError(
                f"kernel '{name}' is defined twice: in {type(_by_name[name]).__module__} "
                f"and in {cls.__module__}; rename one"
            )
        instance = cls()
        ops = (op,) if isinstance(op, str) else op
        # One class may serve several operators or dtypes, so the identity is the instance's.
        for key, value in dict(
            name=name, ops=ops, target=target, source=source, dtypes=dtypes, folder=folder
        ).items():
            setattr(instance, key, value)
        _by_name[name] = instance
        for kind in ops:
            _kernels.setdefault(kind, []).append(instance)
        return cls

    return register


def kernels_of(op: str, target: str) -> list[Kernel]:
    """The kernels that ``target`` itself has for ``op``."""
    return [k for k in _kernels.get(op, ()) if k.target == target]


def all_kernels() -> list[Kernel]:
    return list(_by_name.values())


def kernel_named(name: str) -> Kernel:
    return _by_name[name]
