"""``simulate``: the exact host simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compiler.cli.common import (
    data_options,
    model_options,
    out,
    output_options,
    print_json,
    to_options,
    warn,
)


@click.command()
@click.argument("model", required=False, type=click.Path(path_type=Path))
@data_options
@model_options
@output_options
def command(
    model: Path | None, input_file: Path | None, output_file: Path | None, **values: Any
) -> None:
    """Run MODEL on this machine with the very integers that every board computes."""
    from compiler import api, arrays
    from compiler.report.progress import bar
    from compiler.report.tables import outputs_table

    graph = api.lower(model, to_options(values), bar)
    if input_file is not None:
        inputs = arrays.read_npz(input_file)
    else:
        warn("no --input: simulating once on random numbers")
        inputs = arrays.random_inputs(api.tensor_infos(graph, graph.inputs), 1)
    result = api.simulate(graph, inputs, progress=bar)
    if output_file is not None:
        arrays.write_npz(output_file, result.outputs)
    if values["as_json"]:
        written = str(output_file) if output_file else None
        print_json({"runs": result.runs, "outputs_file": written, "seconds": result.seconds})
        return
    out.print(outputs_table(result.outputs, None))
    out.print(f"{result.runs} run(s) simulated in {result.seconds:.2f} s", soft_wrap=True)
