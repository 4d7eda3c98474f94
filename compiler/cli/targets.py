"""``targets``: the instruction sets that have kernels."""

from __future__ import annotations

from typing import Any

import click

from compiler.cli.common import out, output_options, print_json


@click.command()
@output_options
def command(**values: Any) -> None:
    """List the targets and their fallback chains."""
    from compiler import api
    from compiler.report.tables import targets_table

    rows = api.targets()
    if values["as_json"]:
        print_json({"targets": rows})
    else:
        out.print(targets_table(rows))
