"""``check``: accuracy on a data set, float against quantized against the board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compiler.cli.common import (
    board_options,
    model_options,
    out,
    output_options,
    port_alone,
    print_json,
    to_options,
)


@click.command()
@click.argument("model", required=False, type=click.Path(path_type=Path))
@board_options
@port_alone
@click.option("--data", type=click.Path(path_type=Path), required=True, metavar="D.npz|DIR",
              help="Inputs by name, or a folder of pictures named by class.")
@click.option("--labels", metavar="NAME|FILE", help="A key of the .npz, or a file: a class a line.")
@click.option("--metric", metavar="F.py:FUNCTION",
              help="Your own: called with the outputs by name, and the labels.")
@click.option("--limit", type=int, metavar="N", help="Judge only N samples, evenly spread.")
@click.option("--on-board", is_flag=True, help="Build into --out and run every sample there too.")
@click.option("--workers", type=int, default=1, show_default=True, metavar="N",
              help="Processes that share the data set.")
@click.option("--dask", metavar="ADDRESS", help="A Dask scheduler whose workers share it.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="F.png|svg|html",
              help="Draw every layer's SQNR.")
@model_options
@output_options
def command(
    model: Path | None, board: str, folder: Path | None, port: str | None, data: Path,
    labels: str | None, metric: str | None, limit: int | None, on_board: bool, workers: int,
    dask: str | None, plot: Path | None, **values: Any,
) -> None:  # fmt: skip
    """Measure how accurate MODEL is as the board computes it, against its float version.

    Without --calibration, every eighth sample calibrates and the others are judged.
    """
    from compiler import api
    from compiler.report.accuracy import check_table
    from compiler.report.accuracy_plot import check_plot_format, write_plot
    from compiler.report.progress import bar

    if plot is not None:
        check_plot_format(plot)
    result = api.check(
        model, board=board, data=data, labels=labels, metric=metric, options=to_options(values),
        on_board=on_board, out=folder, port=port, limit=limit, workers=workers, dask=dask,
        progress=bar,
    ).to_json()  # fmt: skip
    if plot is not None:
        write_plot(plot, result)
    if values["as_json"]:
        print_json(result)
    else:
        out.print(check_table(result, verbose=values["verbose"]))
