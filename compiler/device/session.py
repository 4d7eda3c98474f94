"""A running board with the model that was built for it: inputs in, outputs and profile out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from compiler.arrays import Arrays
from compiler.boards import Board
from compiler.device.client import Client
from compiler.device.runners import open_stream
from compiler.errors import BoardError
from compiler.manifest import Build


@dataclass(frozen=True, eq=False)
class Session:
    """An open connection; `open_session` makes and closes it."""

    client: Client
    build: Build

    def run(self, inputs: Mapping[str, np.ndarray]) -> Arrays:
        """One inference; arrays of the model's own shapes and dtypes."""
        for index, tensor in enumerate(self.build.inputs):
            self.client.write_input(index, np.ascontiguousarray(inputs[tensor.name]).tobytes())
        self.client.run()
        outputs: Arrays = {}
        for index, tensor in enumerate(self.build.outputs):
            data = self.client.read_output(index)
            outputs[tensor.name] = np.frombuffer(data, tensor.dtype).reshape(tensor.shape)
        return outputs


@contextmanager
def open_session(board: Board, build: Build, port: str | None) -> Iterator[Session]:
    """Start or reach the board and check that it runs this very build. Raises BoardError."""
    with open_stream(board, build.image, port) as stream:
        client = Client(stream)
        info = client.hello()
        expected = str(build.manifest["code_hash"])
        if info.code_hash.hex() != expected:
            raise BoardError(
                f"board '{board.name}' runs other kernels (hash {info.code_hash.hex()}) than "
                f"'{build.folder}' ({expected}); flash that build first"
            )
        yield Session(client, build)
