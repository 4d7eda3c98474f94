"""Options that several commands share, and how they print."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.text import Text

from compiler import options
from compiler.options import BuildOptions, parse_shape

F = TypeVar("F", bound=Callable[..., Any])

#: Logs, progress and warnings; results go to standard output.
log = Console(stderr=True, highlight=False, markup=False)
out = Console(highlight=False, markup=False)


def _stack(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


output_options = _stack(
    click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output."),
    click.option("-v", "--verbose", is_flag=True, help="Say more about what is done."),
    click.option("--debug", is_flag=True, help="Show the traceback of a failure."),
)

board_options = _stack(
    click.option("--board", required=True, metavar="B", help="A name that `boards` lists."),
    click.option("--out", "folder", type=click.Path(path_type=Path), metavar="DIR",
                 help="Folder of the build. [default: build/BOARD]"),
)  # fmt: skip


def _load_plugins(_context: click.Context, _option: click.Parameter, paths: Any) -> None:
    from compiler.loading import load_plugin

    for path in paths:
        load_plugin(path)


#: Boards from outside the tree, for commands that compile nothing.
plugin_option = click.option(
    "--plugin", multiple=True, type=click.Path(path_type=Path), metavar="DIR", expose_value=False,
    callback=_load_plugins, is_eager=True, help="A folder of boards, laid out as boards/ is.",
)  # fmt: skip

port_alone = click.option(
    "--port", metavar="P", help="/dev/ttyUSB0, socket://host:port, ssh://user@host, a folder."
)

#: For commands without `model_options`, which have --plugin too.
port_option = _stack(plugin_option, port_alone)

#: How a model is compiled; `to_options` collects them.
model_options = _stack(
    click.option("--quantize", type=click.Choice(options.QUANTIZE), default="none",
                 show_default=True, help="Quantize a float model after training."),
    click.option("--calibration", type=click.Path(path_type=Path), metavar="D.npz|DIR",
                 help="Inputs to choose ranges by: an .npz of series or a folder of images."),
    click.option("--ranges", type=click.Choice(options.RANGES), default="mse", show_default=True,
                 help="How calibration chooses the range of each tensor."),
    click.option("--rounding", type=click.Choice(options.ROUNDING), default="nearest",
                 show_default=True, help="Weights: the nearest, or so that outputs change least."),
    click.option("--equalize", is_flag=True,
                 help="Scale channels between layers towards equal ranges first."),
    click.option("--budget", multiple=True, metavar="NAME=VALUE",
                 help="Of --quantize mixed: latency=1.3x, ram=64KiB, accuracy=30dB or 1%."),
    click.option("--numerics", type=click.Choice(options.NUMERICS), default="tflite",
                 show_default=True, help="Integer arithmetic: TFLite's, or the cheapest."),
    click.option("--optimize", type=click.Choice(options.OPTIMIZE), default="speed",
                 show_default=True, help="What to spare: time, flash or RAM."),
    click.option("--io", type=click.Choice(options.IO), default="model", show_default=True,
                 help="Types of inputs and outputs: the file's, int8, or float."),
    click.option("--shape", "shapes", multiple=True, metavar="NAME=1,96,96,1",
                 help="Bind the dynamic shape of an input."),
    click.option("--plugin", "plugins", multiple=True, type=click.Path(path_type=Path),
                 metavar="P", help="A Python file (operators, kernels, passes); a board folder."),
    click.option("--write-quantized", type=click.Path(path_type=Path), metavar="F.tflite|F.onnx",
                 help="Write the quantized model back as a file, to be run elsewhere."),
    click.option("--dump", type=click.Path(path_type=Path), metavar="DIR",
                 help="Write what each stage made."),
    click.option("--stop-after", type=click.Choice(options.STAGES),
                 help="Stop after this stage and print what it made."),
)  # fmt: skip

#: Where a run's inputs come from and its outputs go.
data_options = _stack(
    click.option("--input", "input_file", type=click.Path(path_type=Path), metavar="X.npz",
                 help="Inputs by name; one more dimension is a series of runs."),
    click.option("--output", "output_file", type=click.Path(path_type=Path), metavar="Y.npz",
                 help="Where the outputs go."),
)  # fmt: skip


def to_options(values: dict[str, Any]) -> BuildOptions:
    """From a command's keyword arguments."""
    known = {key: values[key] for key in values if key in BuildOptions.__dataclass_fields__}
    known["shapes"] = dict(parse_shape(text) for text in values.get("shapes", ()))
    return BuildOptions(**known)


def print_json(value: Any) -> None:
    print(json.dumps(value))


def warn(message: str) -> None:
    log.print(Text.assemble(("warning:", "yellow"), f" {message}"), soft_wrap=True)
