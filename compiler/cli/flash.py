"""``flash``: the built image goes onto the board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compiler.cli.common import board_options, log, out, output_options, port_option, print_json


@click.command()
@board_options
@port_option
@click.option("--blob", is_flag=True, help="Only the weights, over the serial line.")
@output_options
def command(board: str, folder: Path | None, port: str | None, blob: bool, **values: Any) -> None:
    """Put the image of a finished build onto the board."""
    from compiler import api

    with log.status(f"flashing {board}"):
        put = api.flash_blob if blob else api.flash
        done = put(board=board, out=folder, port=port)
    if values["as_json"]:
        print_json({"board": board, "flashed": done})
    else:
        out.print(done, soft_wrap=True)
