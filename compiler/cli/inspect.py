"""``inspect``: what a model or a build is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compiler.cli.common import model_options, out, output_options, print_json, to_options


@click.command()
@click.argument("subject", required=False, metavar="MODEL|DIR", type=click.Path(path_type=Path))
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="F",
    help="Write a page with the graph, the memory map and the sizes.",
)
@model_options
@output_options
def command(subject: Path | None, html: Path | None, **values: Any) -> None:  # fmt: skip
    """Show the graph of MODEL, or the steps, memory map and sizes of the build in DIR."""
    from compiler import api, files
    from compiler.report.html import inspect_page
    from compiler.report.tables import inspect_table

    facts = api.inspect(subject, to_options(values))
    if html is not None:
        files.write_text(html, inspect_page(facts))
    if values["as_json"]:
        print_json(facts)
    else:
        out.print(inspect_table(facts))
