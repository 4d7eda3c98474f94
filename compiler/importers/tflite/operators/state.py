"""What is left of variables once they are state tensors: copies from and to those."""

from __future__ import annotations

from compiler.errors import UnsupportedError
from compiler.importers.tflite.node import Node, reads
from compiler.operators.movement import ReshapeParams
from compiler.operators.state import ReadStateParams


@reads("READ_VARIABLE")
def read_variable(node: Node) -> None:
    """What is read goes into a tensor of its own: a model's output, another variable's value."""
    source = node.input(0)
    if source.is_state:
        node.emit("read_state", (source,), ReadStateParams())
    else:
        node.emit("reshape", (source,), ReshapeParams(source.shape))


@reads("ASSIGN_VARIABLE")
def assign_variable(node: Node) -> None:
    value, state = node.input(0), node.build[node.outputs[0].name]
    if value.dtype != state.dtype:
        raise UnsupportedError(f"a {value.dtype} value for a variable of {state.dtype}")
    node.build.assign(value, state)
