"""One ONNX node as its reader sees it, and the table of readers by operator name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import onnx

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Shape
from compiler.importers.onnx_model.builder import Builder

#: What a reader returns: the tensors that stand for the node's outputs, in order.
Result = str | Sequence[str]
Reader = Callable[["Node"], Result]

#: What lowers a subgraph, see ``Node.inline``.
Inliner = Callable[[onnx.GraphProto, Sequence[str]], list[str]]

STANDARD_DOMAINS = ("", "ai.onnx")

_readers: dict[tuple[str, str], Reader] = {}


AnyReader = TypeVar("AnyReader", bound=Reader)


def reads(*kinds: str, domain: str = "") -> Callable[[AnyReader], AnyReader]:
    """Decorator: the function that lowers ONNX operator ``kinds`` of ``domain``.

    It is given a ``Node``, emits operators through ``node.build``, and returns the name of the
    tensor of each output. It raises UnsupportedError for what it cannot lower.
    """

    def register(reader: AnyReader) -> AnyReader:
        for kind in kinds:
            if (domain, kind) in _readers:
                other = _readers[domain, kind].__module__
                raise ValueError(
                    f"ONNX operator '{kind}' has two readers: in {other} and in "
                    f"{reader.__module__}; remove one"
                )
            _readers[domain, kind] = reader
        return reader

    return register


def reader_of(proto: onnx.NodeProto) -> Reader | None:
    domain = "" if proto.domain in STANDARD_DOMAINS else proto.domain
    return _readers.get((domain, proto.op_type))


def readable() -> list[str]:
    """Names of the ONNX operators that have a reader, sorted; for the support table."""
    return sorted(f"{domain}.{kind}" if domain else kind for domain, kind in _readers)


@dataclass(frozen=True)
class Node:
    """A node, with its inputs as names of tensors of ``build`` ("" where absent)."""

    proto: onnx.NodeProto
    inputs: tuple[str, ...]
    opset: int
    build: Builder
    inliner: Inliner | None = None

    def inline(self, body: onnx.GraphProto, inputs: Sequence[str]) -> list[str]:
        """Lower a subgraph with ``inputs`` for its inputs; the tensors of its outputs."""
        assert self.inliner is not None
        return self.inliner(body, inputs)

    def changed(self, inputs: Sequence[str], attributes: Mapping[str, Any]) -> Node:
        """The same operator with other inputs, and some attributes different."""
        proto = onnx.NodeProto()
        proto.CopyFrom(self.proto)
        del proto.attribute[:]
        proto.attribute.extend(a for a in self.proto.attribute if a.name not in attributes)
        proto.attribute.extend(onnx.helper.make_attribute(n, v) for n, v in attributes.items())
        return replace(self, proto=proto, inputs=tuple(inputs))

    @property
    def kind(self) -> str:
        return str(self.proto.op_type)

    @cached_property
    def _attributes(self) -> dict[str, Any]:
        return {a.name: onnx.helper.get_attribute_value(a) for a in self.proto.attribute}

    def has(self, index: int) -> bool:
        """Whether input ``index`` is present."""
        return index < len(self.inputs) and bool(self.inputs[index])

    def input(self, index: int = 0) -> str:
        if not self.has(index):
            raise ModelError(f"input {index}, which ONNX requires, is absent")
        return self.inputs[index]

    def shape(self, index: int = 0) -> Shape:
        return self.build.shape(self.input(index))

    def rank(self, index: int = 0) -> int:
        return len(self.shape(index))

    def dtype(self, index: int = 0) -> str:
        return self.build.tensors[self.input(index)].dtype

    def data(self, index: int) -> np.ndarray | None:
        """The value of a constant input, None if it is not constant or absent."""
        return self.build.data(self.inputs[index]) if self.has(index) else None

    def constant(self, index: int, what: str) -> np.ndarray:
        """The value of input ``index``, which must be constant; ``what`` names it."""
        data = self.data(index)
        if data is None:
            sources = ", ".join(map(repr, self.build.sources(self.input(index))))
            raise UnsupportedError(f"{what} computed at run time from {sources}; make it constant")
        return data

    def integers_at(self, index: int, what: str) -> list[int]:
        return [int(value) for value in self.constant(index, what).reshape(-1)]

    def attribute(self, name: str, default: Any) -> Any:
        """Attribute ``name``, of the type of ``default``; bytes become text."""
        value = self._attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def required(self, name: str) -> Any:
        if name not in self._attributes:
            raise ModelError(f"attribute '{name}', which ONNX requires, is absent")
        return self.attribute(name, None)

    def given(self, name: str) -> bool:
        return name in self._attributes

    def axis(self, default: int, rank: int | None = None, name: str = "axis") -> int:
        """Attribute ``axis`` as a non-negative number."""
        return normal_axis(self.attribute(name, default), self.rank() if rank is None else rank)

    def axes(self, index: int, rank: int | None = None) -> tuple[int, ...] | None:
        """``axes``, an attribute in old opsets and input ``index`` in new ones; None if absent."""
        if self.given("axes"):
            axes = list(self.attribute("axes", []))
        elif self.has(index):
            axes = self.integers_at(index, "axes")
        else:
            return None
        rank = self.rank() if rank is None else rank
        return tuple(normal_axis(axis, rank) for axis in axes)


def normal_axis(axis: int, rank: int) -> int:
    """``axis`` counted from the front; raises ModelError outside [-rank, rank)."""
    if not -rank <= axis < rank:
        raise ModelError(f"axis {axis} of a tensor with {rank} dimensions")
    return int(axis) % rank
