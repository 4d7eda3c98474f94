"""``build``: a model becomes a firmware image."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from compiler.cli.common import (
    board_options,
    log,
    model_options,
    out,
    output_options,
    print_json,
    to_options,
)


@click.command()
@click.argument("model", required=False, type=click.Path(path_type=Path))
@board_options
@model_options
@click.option("--toolchain", metavar="T", help="gcc, clang or zig. [default: what is there]")
@output_options
def command(model: Path | None, board: str, folder: Path | None, **values: Any) -> None:
    """Compile MODEL (.tflite or .onnx; by default the sample that ships) for a board."""
    from compiler import api
    from compiler.report.progress import bar
    from compiler.report.tables import build_table

    options = to_options(values)
    say: AbstractContextManager[Any] = (
        nullcontext() if options.quantize != "none" else log.status(f"building for {board}")
    )
    with say:  # calibration shows a bar of its own
        built = api.build(model, board=board, out=folder, options=options, progress=bar)
    if values["as_json"]:
        print_json(built.manifest)
        return
    out.print(build_table(built.manifest, verbose=values["verbose"]))
    out.print(f"built {built.image}", soft_wrap=True)
