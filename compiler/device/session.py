"""A running board with the model that was built for it: inputs in, outputs and profile out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from compiler.arrays import Arrays
from compiler.blob import blob_crc
from compiler.board import Board
from compiler.device.client import Client
from compiler.device.protocol import BoardInfo, status_text
from compiler.device.runners import open_stream
from compiler.errors import BoardError
from compiler.files import read_bytes
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

    def reset_state(self) -> None:
        """Let the next run be the first one: every state tensor has its initial value."""
        self.client.reset_state()


@contextmanager
def open_session(board: Board, build: Build, port: str | None) -> Iterator[Session]:
    """Start or reach the board and check that it runs this very build. Raises BoardError."""
    with open_stream(board, build.image, port) as stream:
        client = Client(stream)
        _check_model(client.hello(), board, build)
        yield Session(client, build)


def _check_model(info: BoardInfo, board: Board, build: Build) -> None:
    """Raises BoardError where the board could not load its model, or has another one."""
    if info.load_status < 0:
        raise BoardError(
            f"board '{board.name}' could not load its model: {status_text(info.load_status)}; "
            f"build and flash again"
        )
    blob = read_bytes(build.folder / "model.blob", "blob")
    same_code = info.code_hash.hex() == build.manifest["code_hash"]
    if not same_code or (info.blob_bytes, info.blob_crc) != (len(blob), blob_crc(blob)):
        what = "weights" if same_code else "kernels"
        raise BoardError(
            f"board '{board.name}' has another model's {what} than '{build.folder}'; "
            f"flash that build first"
        )
