"""How an image gets onto a board and how the board is reached: a runner each, found by scanning."""

from compiler.device.runners.base import Missing, Runner, runner
from compiler.device.runners.select import flash_image, open_stream, runner_names, select_runner

__all__ = [
    "Missing",
    "Runner",
    "flash_image",
    "open_stream",
    "runner",
    "runner_names",
    "select_runner",
]
