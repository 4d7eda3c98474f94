"""``export``: a finished build as C for somebody's own firmware project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compiler.cli.common import out, output_options, print_json


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_name",
    required=True,
    metavar="F",
    help="cmake, arduino, zephyr, cmsis-pack or single-file.",
)
@click.option(
    "--out",
    "target",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where it goes. [default: DIR-FORMAT]",
)
@output_options
def command(
    folder: Path, format_name: str, target: Path | None, **values: Any
) -> None:  # fmt: skip
    """Write the build in DIR as a folder to drop into a firmware project."""
    from compiler import api

    place = target or folder.with_name(f"{folder.name}-{format_name}")
    files = api.export(folder, format=format_name, out=place)
    if values["as_json"]:
        print_json({"format": format_name, "out": str(place), "files": [str(f) for f in files]})
    else:
        out.print(f"{len(files)} files in {place}", soft_wrap=True)
