"""An operator is a name; any file attaches attributes to it, without editing another.

    @shape.of("conv2d")
    def conv2d_shape(view): ...

A missing entry raises with the operator's and the attribute's name; a duplicate names both
modules. The idea is NNVM's (dmlc/nnvm, docs/dev/overview.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from compiler.errors import UnsupportedError
from compiler.graph import Graph, OpView, Shape

T = TypeVar("T")


class Attribute(Generic[T]):
    """A named property of operators: a dict with a decorator."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._entries: dict[str, T] = {}
        self._origin: dict[str, str] = {}

    def of(self, *kinds: str) -> Callable[[T], T]:
        """Decorator: the value for each of ``kinds``."""

        def register(value: T) -> T:
            origin = getattr(value, "__module__", "?")
            for kind in kinds:
                if kind in self._entries:
                    raise ValueError(
                        f"attribute '{self.name}' of operator '{kind}' is defined twice: in "
                        f"{self._origin[kind]} and in {origin}; remove one"
                    )
                self._entries[kind] = value
                self._origin[kind] = origin
            return value

        return register

    def __getitem__(self, kind: str) -> T:
        try:
            return self._entries[kind]
        except KeyError:
            raise UnsupportedError(
                f"operator '{kind}' has no attribute '{self.name}'; register one with "
                f'@{self.name}.of("{kind}"), in a file given by --plugin'
            ) from None

    def get(self, kind: str) -> T | None:
        return self._entries.get(kind)

    def __contains__(self, kind: str) -> bool:
        return kind in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))


#: The frozen dataclass of the operator's parameters. Defining it defines the operator.
params: Attribute[type] = Attribute("params")

#: ``shape(view) -> ((shape, dtype), ...)`` of the outputs, from the inputs and parameters.
shape: Attribute[Callable[[OpView], Sequence[tuple[Shape, str]]]] = Attribute("shape")

#: ``reference(view, *arrays) -> array or tuple of arrays``: the numpy meaning, float and
#: integer, exact for ``view.numerics``. An absent optional input is None.
reference: Attribute[Callable[..., np.ndarray | tuple[np.ndarray, ...]]] = Attribute("reference")

#: How the operator becomes int8: a ``QuantizeRule``, see quantization/rule.py.
quantize: Attribute[Any] = Attribute("quantize")

#: Operator class, for fusion and planning: "elementwise" (unary, same shape), "broadcast"
#: (binary, broadcasting), "reduction", "complex" (takes an elementwise epilogue), "view"
#: (same bytes, another shape), "movement" (copies elements), "opaque".
op_class: Attribute[str] = Attribute("op_class")

#: How numerics ``tflite`` rounds the operator's accumulator: "double" (the default: high multiply,
#: then shift) or "single" (one rounding of the 64-bit product).
rounding: Attribute[str] = Attribute("rounding")

#: ``macs(view) -> int``: multiply-accumulates of one run; 0 where absent.
macs: Attribute[Callable[[OpView], int]] = Attribute("macs")


@dataclass(frozen=True)
class Embedding:
    """Tensor ``part`` is the bytes of tensor ``whole`` from byte ``offset`` on."""

    part: str
    whole: str
    offset: int


#: ``embeddings(view) -> Embeddings``: how the operator is nothing but tensors lying inside each
#: other, so that it costs no step; empty where this very one has to move or convert elements.
embeddings: Attribute[Callable[[OpView], Sequence[Embedding]]] = Attribute("embeddings")


def classify(kind: str, name: str) -> None:
    """Give operator ``kind`` the operator class ``name``."""
    op_class.of(kind)(name)


def count_macs(view: OpView) -> int:
    counter = macs.get(view.op.kind)
    return counter(view) if counter else 0


Pass = Callable[[Graph], Graph]
