"""A graph made ready to run many times: compiled for this machine, or else simulated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from compiler.errors import ToolError, UnsupportedError
from compiler.graph import Graph
from compiler.loading import load_builtins, load_plugin
from compiler.native import NativeModel, NativeProgram, Observer, compile_graph
from compiler.simulator import Simulator


class Executor(Protocol):
    """What the simulator and a compiled model have in common."""

    def reset(self) -> None:
        """Give every state tensor its initial value."""

    def run(
        self, inputs: Mapping[str, np.ndarray], observe: Observer | None = None
    ) -> dict[str, np.ndarray]:
        """One inference on arrays of the model's own shapes and dtypes."""


@dataclass(frozen=True, eq=False)
class Runner:
    """A graph that can be opened here, in another process or on another machine."""

    program: NativeProgram | Graph
    plugins: tuple[Path, ...] = ()

    @property
    def is_compiled(self) -> bool:
        return isinstance(self.program, NativeProgram)

    @property
    def how(self) -> str:
        """"compiled" or "simulated": the same integers either way."""
        return "compiled" if self.is_compiled else "simulated"

    def open(self) -> Executor:
        """An executor of its own; raises ToolError where a compiled one cannot be had."""
        if isinstance(self.program, NativeProgram):
            return NativeModel(self.program)
        load_builtins()
        for plugin in self.plugins:
            load_plugin(plugin)
        return Simulator(self.program)


def make_runner(
    graph: Graph, observed: Collection[str] = (), plugins: tuple[Path, ...] = ()
) -> Runner:
    """The fastest way to run ``graph`` here; only tensors ``observed`` are sure to be shown.

    Compiled by the kernels of board ``host``. Where there is no C compiler or an operator has no
    kernel, the simulator.
    """
    try:
        runner = Runner(compile_graph(graph, observed))
        runner.open()
    except (ToolError, UnsupportedError):
        return Runner(graph, plugins)
    return runner
