"""Turns a parsed ``.tflite`` file into a graph, node by node."""

from __future__ import annotations

import importlib
import pkgutil
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

import compiler.importers.tflite.operators as operators
from compiler.errors import KilnError, ModelError, UnsupportedError, UsageError
from compiler.graph import DTYPE_BYTES, Graph, Shape, Tensor
from compiler.importers.metadata import read_metadata
from compiler.importers.tflite.builder import GraphBuilder
from compiler.importers.tflite.dilation import fold_space_to_batch
from compiler.importers.tflite.model_file import (
    ABSENT,
    FileOperator,
    FileSubgraph,
    FileTensor,
    parse,
)
from compiler.importers.tflite.node import Node, lowering_of
from compiler.importers.tflite.unsigned import make_signed
from compiler.loading import load_builtins
from compiler.ops.quantization import QuantizeParams

#: What numpy and struct raise when a damaged file's values do not fit together.
_INCONSISTENT = (
    ValueError, IndexError, KeyError, TypeError, AssertionError, AttributeError, struct.error,
    ArithmeticError, MemoryError,
)  # fmt: skip

METADATA_NAME = "TFLITE_METADATA"


def read_tflite(data: bytes, path: Path, shapes: Mapping[str, Shape]) -> Graph:
    """The graph of a file's bytes. Raises ModelError, UnsupportedError or UsageError."""
    load_builtins()
    for info in pkgutil.iter_modules(operators.__path__):
        importlib.import_module(f"{operators.__name__}.{info.name}")
    file = parse(data, path)
    try:
        graph = _Reading(file.subgraphs[0], path, shapes).graph()
    except UsageError:
        raise
    except KilnError as error:
        raise type(error)(f"model '{path}': {error}") from error
    except _INCONSISTENT as error:
        raise ModelError(f"model '{path}': damaged ({error}); get the file again") from error
    blob = file.metadata.get(METADATA_NAME)
    return read_metadata(graph, blob, data) if blob else graph


class _Reading:
    """One subgraph on its way into a graph."""

    def __init__(self, subgraph: FileSubgraph, path: Path, shapes: Mapping[str, Shape]) -> None:
        self._original = subgraph
        self._subgraph = make_signed(fold_space_to_batch(subgraph))
        self._shapes = shapes
        self._build = GraphBuilder(path.stem)
        self._unsupported: list[str] = []
        self._edge = {*subgraph.inputs, *subgraph.outputs}

    def graph(self) -> Graph:
        self._check_shape_names()
        for index in dict.fromkeys(self._subgraph.inputs):
            self._define_input(index)
        for index in self._constants():
            self._define_constant(self._subgraph.tensors[index], self._name(index))
        for operator in self._subgraph.operators:
            self._lower(operator)
        if self._unsupported:
            raise UnsupportedError(
                f"cannot read {'; '.join(self._unsupported)}; replace what is listed, or add a "
                f"reader with --plugin"
            )
        return self._build.finish(
            dict.fromkeys(self._original.tensors[i].name for i in self._subgraph.inputs),
            dict.fromkeys(self._output(i) for i in self._subgraph.outputs),
        )

    def _is_converted(self, index: int) -> bool:
        """Whether an edge tensor is unsigned outside and signed inside."""
        before, after = self._original.tensors[index], self._subgraph.tensors[index]
        return index in self._edge and before.dtype != after.dtype

    def _name(self, index: int) -> str:
        """The tensor's name in the graph, in the form that operators use."""
        name = self._subgraph.tensors[index].name
        return f"{name}/signed" if self._is_converted(index) else name

    def _check_shape_names(self) -> None:
        known = [self._subgraph.tensors[i].name for i in self._subgraph.inputs]
        for name in self._shapes:
            if name not in known:
                raise UsageError(f"--shape {name}: no such input; there is {', '.join(known)}")

    def _define_input(self, index: int) -> None:
        tensor = self._original.tensors[index]
        shape = self._bound_shape(tensor)
        self._build.define(Tensor(tensor.name, shape, tensor.dtype, tensor.quant))
        if self._is_converted(index):
            signed = self._declared(index)
            self._build.add("requantize", (self._build[tensor.name],), QuantizeParams(), (signed,))

    def _bound_shape(self, tensor: FileTensor) -> Shape:
        """A dynamic dimension is what --shape says, else what the file says, else 1."""
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
        """Tensors that operators read or the model returns, and that nothing computes."""
        made = {*self._subgraph.inputs}.union(*(op.outputs for op in self._subgraph.operators))
        read = {i for op in self._subgraph.operators for i in op.inputs if i != ABSENT}
        return sorted((read | {*self._subgraph.outputs}) - made)

    def _define_constant(self, tensor: FileTensor, name: str) -> None:
        data = tensor.data
        if data is None and not tensor.is_variable and 0 in tensor.shape:
            data = np.zeros(tensor.shape, tensor.dtype)
        if tensor.is_variable:
            data = np.zeros(tensor.shape, tensor.dtype)
        if data is None:
            raise ModelError(f"tensor '{tensor.name}': nothing computes it; get the file again")
        self._build.define(
            Tensor(name, data.shape, tensor.dtype, tensor.quant, data, tensor.is_variable)
        )

    def _declared(self, index: int) -> Tensor:
        tensor = self._subgraph.tensors[index]
        return Tensor(self._name(index), tensor.shape, tensor.dtype, tensor.quant)

    def _lower(self, operator: FileOperator) -> None:
        outputs = tuple(self._declared(index) for index in operator.outputs)
        label = f"{operator.kind} '{outputs[0].name if outputs else ''}'"
        try:
            lowering = lowering_of(operator.kind)
            if lowering is None:
                custom = "custom operator" if operator.is_custom else "operator"
                raise UnsupportedError(f"there is no reader for this {custom}")
            inputs = tuple(
                None if index == ABSENT else self._build[self._name(index)]
                for index in operator.inputs
            )
            lowering(Node(self._build, operator, inputs, outputs))
        except UnsupportedError as error:
            self._unsupported.append(f"{label} ({error})")
            self._pretend(outputs)
        except (KilnError, *_INCONSISTENT) as error:
            # Shapes behind an operator that was not read are guesses, so nothing else counts.
            if not self._unsupported:
                reason = error if isinstance(error, KilnError) else f"inconsistent ({error})"
                raise ModelError(f"operator {label}: {reason}") from error
            self._pretend(outputs)

    def _pretend(self, outputs: tuple[Tensor, ...]) -> None:
        """Let later operators be looked at although this one could not be read."""
        for tensor in outputs:
            if tensor.name not in self._build:
                shape = tuple(max(size, 1) for size in tensor.shape)
                dtype = tensor.dtype if tensor.dtype in DTYPE_BYTES else "uint8"
                self._build.define(replace(tensor, shape=shape, dtype=dtype))

    def _output(self, index: int) -> str:
        name = self._original.tensors[index].name
        if self._is_converted(index) and name not in self._build:
            outer = self._original.tensors[index]
            unsigned = Tensor(name, outer.shape, outer.dtype, outer.quant)
            self._build.add(
                "requantize", (self._build[self._name(index)],), QuantizeParams(), (unsigned,)
            )
        return name
