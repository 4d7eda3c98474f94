"""Turns a parsed ``.tflite`` file into a graph, node by node."""

from __future__ import annotations

import importlib
import pkgutil
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import compiler.importers.tflite.operators as operators
from compiler.errors import KilnError, ModelError, UnsupportedError, UsageError
from compiler.graph import DTYPE_BYTES, Graph, Shape, Tensor
from compiler.importers.metadata import read_metadata
from compiler.importers.tflite.builder import GraphBuilder
from compiler.importers.tflite.control import Inlined
from compiler.importers.tflite.dilation import fold_space_to_batch
from compiler.importers.tflite.model_file import ABSENT, FileOperator, FileSubgraph, parse
from compiler.importers.tflite.node import Node, lowering_of
from compiler.importers.tflite.unsigned import make_signed, reads_unsigned
from compiler.importers.tflite.variables import resolve_variables
from compiler.loading import load_builtins
from compiler.operators.quantization import QuantizeParams

#: What numpy and struct raise when a damaged file's values do not fit together.
_INCONSISTENT = (
    ValueError, IndexError, KeyError, TypeError, AssertionError, AttributeError, struct.error,
    ArithmeticError, MemoryError,
)  # fmt: skip

COMPLEX = "complex64"
COMPLEX_OPERATORS = (
    "RFFT2D", "COMPLEX_ABS", "REAL", "IMAG", "RESHAPE", "SQUEEZE", "EXPAND_DIMS",
)  # fmt: skip

METADATA_NAME = "TFLITE_METADATA"


def read_tflite(data: bytes, path: Path, shapes: Mapping[str, Shape]) -> Graph:
    """The graph of a file's bytes. Raises ModelError, UnsupportedError or UsageError."""
    load_builtins()
    for info in pkgutil.iter_modules(operators.__path__):
        importlib.import_module(f"{operators.__name__}.{info.name}")
    file = parse(data, path)
    try:
        main = resolve_variables(file, lambda initial: _Reading(initial, path, {}).graph())
        graph = _Reading(main, path, shapes, file.subgraphs).graph()
    except UsageError:
        raise
    except KilnError as error:
        raise type(error)(f"model '{path}': {error}") from error
    except _INCONSISTENT as error:
        raise ModelError(f"model '{path}': damaged ({error}); get the file again") from error
    blob = file.metadata.get(METADATA_NAME)
    return read_metadata(graph, blob, data) if blob else graph


class _Reading:
    """One subgraph on its way into a graph.

    A quantized uint8 tensor has two forms: as the file has it, which inputs, outputs and a few
    operators need, and signed, which the others need. Each is made of the other when asked for.
    """

    def __init__(
        self,
        subgraph: FileSubgraph,
        path: Path,
        shapes: Mapping[str, Shape],
        others: Sequence[FileSubgraph] = (),
    ) -> None:
        self._original = subgraph
        self._subgraph = make_signed(fold_space_to_batch(subgraph))
        self._shapes = shapes
        self._build = GraphBuilder(path.stem)
        self._unsupported: dict[tuple[str, str], list[str]] = {}  # (kind, reason) -> names
        self._edge = {*subgraph.inputs, *subgraph.outputs}
        self._others = others  # subgraphs that control flow runs, by number
        self._prefix = ""  # of names, where it is run by another
        self._given: dict[int, Tensor] = {}  # inputs that the other gives, signed
        self._inlined = Inlined()

    def graph(self) -> Graph:
        self._check_shape_names()
        for index in dict.fromkeys(self._subgraph.inputs):
            tensor = self._declared(index, signed=False)
            self._build.define(replace(tensor, shape=self._bound_shape(index)))
        self._read_operators()
        if self._unsupported:
            raise UnsupportedError(self._what_is_unsupported())
        ends = (
            dict.fromkeys(self._tensor(index, signed=False).name for index in indices)
            for indices in (self._subgraph.inputs, self._subgraph.outputs)
        )
        return self._build.finish(*ends)

    def _inline(self, number: int, inputs: Sequence[Tensor], caller: str) -> list[Tensor]:
        """The outputs of subgraph ``number`` on ``inputs``, its operators put in this graph."""
        if not 0 < number < len(self._others):
            raise ModelError(f"subgraph {number} does not exist; get the file again")
        subgraph = self._others[number]
        if len(inputs) != len(subgraph.inputs):
            raise ModelError(f"{len(inputs)} inputs for the {len(subgraph.inputs)} of a subgraph")
        with self._inlined.count(len(subgraph.operators)) as call:
            inner = _Reading(subgraph, Path(), {}, self._others)
            inner._build, inner._unsupported = self._build, self._unsupported
            inner._inlined, inner._edge = self._inlined, set()
            inner._prefix = f"{caller}/{call}/"
            inner._given = dict(zip(subgraph.inputs, inputs, strict=True))
            inner._read_operators()
            return [inner._tensor(index, signed=True) for index in subgraph.outputs]

    def _read_operators(self) -> None:
        for index in self._constants():
            self._define_constant(index)
        for position, operator in enumerate(self._subgraph.operators):
            self._lower(operator, position)

    def _is_converted(self, index: int) -> bool:
        """Whether a tensor has two forms."""
        return self._original.tensors[index].dtype != self._subgraph.tensors[index].dtype

    def _declared(self, index: int, *, signed: bool) -> Tensor:
        """The tensor, as yet of the shape that the file says, in one of its forms."""
        tensor = (self._subgraph if signed else self._original).tensors[index]
        name = f"{self._prefix}{tensor.name}"
        if self._is_converted(index) and signed == (index in self._edge):
            name = f"{name}/signed" if signed else f"{name}/unsigned"
        dtype = "float32" if tensor.dtype == COMPLEX else tensor.dtype
        return Tensor(name, tensor.shape, dtype, tensor.quant)

    def _is_complex(self, operator: FileOperator) -> bool:
        """Whether it takes or gives complex numbers. Raises UnsupportedError where it cannot."""
        tensors = self._subgraph.tensors
        taken = any(tensors[i].dtype == COMPLEX for i in operator.inputs if i != ABSENT)
        given = any(tensors[i].dtype == COMPLEX for i in operator.outputs)
        if (taken or given) and operator.kind not in COMPLEX_OPERATORS:
            raise UnsupportedError("complex numbers are not supported here")
        return taken

    def _tensor(self, index: int, *, signed: bool) -> Tensor:
        """The tensor in one of its forms, made of the other form if need be."""
        tensor = self._declared(index, signed=signed)
        given = self._given.get(index)
        if given is not None and (signed or not self._is_converted(index)):
            return given
        if tensor.name not in self._build and given is not None:
            self._build.add("requantize", (given,), QuantizeParams(), (tensor,))
        if tensor.name not in self._build:
            other = self._declared(index, signed=not signed).name
            if other not in self._build:
                raise ModelError(f"tensor '{other}' is read before anything computes it")
            self._build.add("requantize", (self._build[other],), QuantizeParams(), (tensor,))
        return self._build[tensor.name]

    def _check_shape_names(self) -> None:
        known = [self._subgraph.tensors[i].name for i in self._subgraph.inputs]
        for name in self._shapes:
            if name not in known:
                raise UsageError(f"--shape {name}: no such input; there is {', '.join(known)}")

    def _bound_shape(self, index: int) -> Shape:
        """A dynamic dimension is what --shape says, else what the file says, else 1."""
        tensor = self._original.tensors[index]
        given = self._shapes.get(tensor.name)
        if given is None:
            return tuple(max(size, 1) for size in tensor.shape)
        if len(given) != len(tensor.shape):
            raise UsageError(
                f"--shape {tensor.name}: has {len(given)} dimensions, the input "
                f"{len(tensor.shape)}: {list(tensor.signature)}"
            )
        return tuple(given)

    def _constants(self) -> list[int]:
        """Constants and states: what operators read or the model returns, and nothing computes."""
        states = {i for i, t in enumerate(self._subgraph.tensors) if t.is_variable}
        made = {*self._subgraph.inputs}.union(*(op.outputs for op in self._subgraph.operators))
        read = {i for op in self._subgraph.operators for i in op.inputs if i != ABSENT}
        return sorted((read | {*self._subgraph.outputs}) - made | states & (read | made))

    def _define_constant(self, index: int) -> None:
        tensor, data = self._subgraph.tensors[index], self._subgraph.tensors[index].data
        if data is None and (tensor.is_variable or 0 in tensor.shape):
            zero = tensor.quant.zero_point[0] if tensor.quant and tensor.dtype == "int8" else 0
            data = np.full(tensor.shape, zero, tensor.dtype)
        if data is None:
            raise ModelError(f"tensor '{tensor.name}': nothing computes it; get the file again")
        declared = self._declared(index, signed=True)
        self._build.define(
            replace(declared, shape=data.shape, data=data, is_state=tensor.is_variable)
        )

    def _lower(self, operator: FileOperator, position: int) -> None:
        signed = not reads_unsigned(operator, self._subgraph)
        outputs = tuple(self._declared(index, signed=signed) for index in operator.outputs)
        name = outputs[0].name if outputs else f"node {position}"
        try:
            lowering = lowering_of(operator.kind)
            if lowering is None:
                custom = "custom operator" if operator.is_custom else "operator"
                raise UnsupportedError(f"no reader for this {custom}")
            inputs = tuple(
                None if index == ABSENT else self._tensor(index, signed=signed)
                for index in operator.inputs
            )
            is_complex = self._is_complex(operator)
            lowering(Node(self._build, operator, inputs, outputs, self._inline, is_complex))
        except UnsupportedError as error:
            self._unsupported.setdefault((operator.kind, str(error)), []).append(f"'{name}'")
            self._pretend(outputs)
        except (KilnError, *_INCONSISTENT) as error:
            # Shapes behind an operator that was not read are guesses, so nothing else counts.
            if not self._unsupported:
                reason = error if isinstance(error, KilnError) else f"inconsistent ({error})"
                raise ModelError(f"operator {operator.kind} '{name}': {reason}") from error
            self._pretend(outputs)

    def _what_is_unsupported(self) -> str:
        """Every node that was not read, by name, with the reason."""
        groups = "; ".join(
            f"{kind} {', '.join(names)} ({reason})"
            for (kind, reason), names in self._unsupported.items()
        )
        return f"cannot read {groups}; replace what is listed, or add a reader with --plugin"

    def _pretend(self, outputs: tuple[Tensor, ...]) -> None:
        """Let later operators be looked at although this one could not be read."""
        for tensor in outputs:
            if tensor.name not in self._build:
                shape = tuple(max(size, 1) for size in tensor.shape)
                dtype = tensor.dtype if tensor.dtype in DTYPE_BYTES else "uint8"
                self._build.define(replace(tensor, shape=shape, dtype=dtype))
