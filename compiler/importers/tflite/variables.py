"""Variables of a file (VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, CALL_ONCE) as state tensors.

A run reads each variable's old value until the first assignment and the assigned value, which is
an ordinary tensor, after that. So the handles and most reads vanish, and one assignment per
variable, of the last value, stands at the end of the subgraph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from compiler.errors import ModelError, UnsupportedError
from compiler.graph import Graph
from compiler.importers.tflite.model_file import (
    ABSENT,
    FileOperator,
    FileSubgraph,
    FileTensor,
    ModelFile,
)
from compiler.importers.tflite.schema import schema
from compiler.simulator import Simulator

#: (container, shared name): what makes two handles the same variable.
Key = tuple[bytes, bytes]
Values = Mapping[Key, np.ndarray]

_KINDS = ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE")


def resolve_variables(file: ModelFile, read: Callable[[FileSubgraph], Graph]) -> FileSubgraph:
    """Subgraph 0 with state tensors in place of variables.

    ``read`` makes a graph of the subgraph that sets initial values, which is run here. Raises
    ModelError or UnsupportedError.
    """
    main = file.subgraphs[0]
    if not any(op.kind in _KINDS for op in main.operators):
        return main
    initial: dict[Key, np.ndarray] = {}
    for number in dict.fromkeys(
        _initialiser(op) for op in main.operators if op.kind == "CALL_ONCE"
    ):
        if not 0 < number < len(file.subgraphs):
            raise ModelError(f"CALL_ONCE of subgraph {number}, which does not exist")
        initial |= _values_after(file.subgraphs[number], initial, read)
    return _Resolution(main, initial).with_assignments()


def _initialiser(op: FileOperator) -> int:
    table = schema().CallOnceOptions()
    if op.table is None or op.options_type != "CallOnceOptions":
        raise ModelError("CALL_ONCE without options; convert the model again")
    table.Init(op.table.Bytes, op.table.Pos)
    return int(table.InitSubgraphIndex())


def _key(op: FileOperator) -> Key:
    table = schema().VarHandleOptions()
    if op.table is None or op.options_type != "VarHandleOptions":
        raise ModelError("VAR_HANDLE without options; convert the model again")
    table.Init(op.table.Bytes, op.table.Pos)
    return table.Container() or b"", table.SharedName() or b""


def _values_after(
    subgraph: FileSubgraph, before: Values, read: Callable[[FileSubgraph], Graph]
) -> Values:
    """What the variables hold after one run of a subgraph without inputs."""
    if subgraph.inputs:
        raise UnsupportedError("CALL_ONCE of a subgraph with inputs is not supported")
    resolution = _Resolution(subgraph, before)
    resolved = resolution.with_outputs()
    outputs = Simulator(read(resolved)).run({})
    return {
        key: outputs[resolved.tensors[index].name] for key, index in resolution.assigned.items()
    }


@dataclass
class _Resolution:
    """One subgraph, walked in its order of execution."""

    subgraph: FileSubgraph
    initial: Values
    assigned: dict[Key, int] = field(default_factory=dict)  # the last value, a tensor's index
    _keys: dict[int, Key] = field(default_factory=dict)  # handle -> variable
    _states: dict[Key, int] = field(default_factory=dict)
    _alias: dict[int, int] = field(default_factory=dict)  # what was read -> what it is

    def __post_init__(self) -> None:
        self._tensors = list(self.subgraph.tensors)
        self._operators: list[FileOperator] = []
        for op in self.subgraph.operators:
            self._visit(op)

    def with_assignments(self) -> FileSubgraph:
        ends = []
        for key, value in self.assigned.items():
            state = self._state(key, value)
            if value in self._states.values():  # may be overwritten before it is assigned here
                value = self._copy(value)
            ends.append(FileOperator("ASSIGN_VARIABLE", False, (value,), (state,)))
        assigned = {self._states[key] for key in self.assigned}
        for index in set(self._states.values()) - assigned:
            self._tensors[index] = replace(self._tensors[index], is_variable=False)
        return self._result((*self._operators, *ends), self.subgraph.outputs)

    def with_outputs(self) -> FileSubgraph:
        """Without states: the assigned values are the outputs."""
        for index in self._states.values():
            self._tensors[index] = replace(self._tensors[index], is_variable=False)
        return self._result(tuple(self._operators), tuple(self.assigned.values()))

    def _result(
        self, operators: tuple[FileOperator, ...], outputs: tuple[int, ...]
    ) -> FileSubgraph:
        tensors = tuple(self._tensors)
        return replace(self.subgraph, tensors=tensors, operators=operators, outputs=outputs)

    def _visit(self, op: FileOperator) -> None:
        op = replace(op, inputs=tuple(self._alias.get(i, i) for i in op.inputs))
        if op.kind == "VAR_HANDLE":
            self._keys[op.outputs[0]] = _key(op)
        elif op.kind == "READ_VARIABLE":
            self._read(self._key_of(op), op.outputs[0])
        elif op.kind == "ASSIGN_VARIABLE":
            if len(op.inputs) < 2 or op.inputs[1] == ABSENT:
                raise ModelError("ASSIGN_VARIABLE without a value; convert the model again")
            self.assigned[self._key_of(op)] = op.inputs[1]
        elif op.kind != "CALL_ONCE":
            self._operators.append(op)

    def _key_of(self, op: FileOperator) -> Key:
        if not op.inputs or op.inputs[0] not in self._keys:
            raise UnsupportedError(f"{op.kind} of a handle that is not made by VAR_HANDLE")
        return self._keys[op.inputs[0]]

    def _read(self, key: Key, output: int) -> None:
        source = self.assigned.get(key)
        if source is None:
            source = self._state(key, output)
        self._alias[output] = source
        if output in self.subgraph.outputs:
            self._operators.append(FileOperator("READ_VARIABLE", False, (source,), (output,)))

    def _state(self, key: Key, like: int) -> int:
        """The state tensor of a variable, which has the shape and scales of ``like``."""
        if key not in self._states:
            model = self._tensors[like]
            name = self._unused_name(key[1].decode("utf-8", "replace") or model.name)
            self._states[key] = len(self._tensors)
            self._tensors.append(_state_tensor(name, model, self.initial.get(key)))
        return self._states[key]

    def _copy(self, state: int) -> int:
        tensor = self._tensors[state]
        name = self._unused_name(f"{tensor.name}/old")
        self._tensors.append(replace(tensor, name=name, data=None, is_variable=False))
        copy = len(self._tensors) - 1
        self._operators.append(FileOperator("READ_VARIABLE", False, (state,), (copy,)))
        return copy

    def _unused_name(self, name: str) -> str:
        taken = {tensor.name for tensor in self._tensors if tensor.dtype != "resource"}
        while name in taken:
            name += "_"
        return name


def _state_tensor(name: str, model: FileTensor, initial: np.ndarray | None) -> FileTensor:
    """Without an initial value it is real zero."""
    shape = model.shape if initial is None else initial.shape
    if initial is None:
        zero = model.quant.zero_point[0] if model.quant else 0
        initial = np.full(shape, zero, model.dtype)
    if str(initial.dtype) != model.dtype:
        raise ModelError(f"variable '{name}' is set as {initial.dtype}, read as {model.dtype}")
    return FileTensor(name, shape, shape, model.dtype, model.quant, initial, is_variable=True)
