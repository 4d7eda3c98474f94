"""``boards``: what can be built for."""

from __future__ import annotations

from typing import Any

import click

from compiler.cli.common import out, output_options, plugin_option, print_json


@click.command()
@plugin_option
@output_options
def command(**values: Any) -> None:
    """List the boards."""
    from compiler import api
    from compiler.report.tables import boards_table

    rows = api.boards()
    if values["as_json"]:
        print_json({"boards": rows})
    else:
        out.print(boards_table(rows))
