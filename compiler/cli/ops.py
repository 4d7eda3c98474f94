"""``ops``: operator x dtype x target, from the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compiler.cli.common import out, output_options, print_json


@click.command()
@click.option("--plugin", "plugins", multiple=True, type=click.Path(path_type=Path), metavar="P")
@output_options
def command(plugins: tuple[Path, ...], **values: Any) -> None:
    """List the operators and the dtypes that each target has a kernel for."""
    from compiler import api
    from compiler.report.tables import ops_table

    rows = api.ops(plugins)
    if values["as_json"]:
        print_json({"ops": rows})
    else:
        out.print(ops_table(rows))
