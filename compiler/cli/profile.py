"""``profile``: where the time goes on the board, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compiler.cli.common import board_options, log, out, output_options, port_option, print_json


@click.command()
@board_options
@port_option
@click.option("--runs", default=10, show_default=True, help="How often to run.")
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    metavar="F.json",
    help="Write a trace for ui.perfetto.dev.",
)
@output_options
def command(
    board: str, folder: Path | None, port: str | None, runs: int, trace: Path | None, **values: Any
) -> None:  # fmt: skip
    """Measure each step of a finished build on its board."""
    from compiler import api, files
    from compiler.report.perfetto import trace_events
    from compiler.report.tables import profile_table

    with log.status(f"profiling on {board}"):
        profile = api.profile(board=board, out=folder, port=port, runs=runs).to_json()
    if trace is not None:
        files.write_json(trace, trace_events(profile))
    if values["as_json"]:
        print_json(profile)
    else:
        out.print(profile_table(profile))
