"""``run``: inference on the board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from compiler.cli.common import (
    board_options,
    data_options,
    out,
    output_options,
    port_option,
    print_json,
    warn,
)


@click.command()
@board_options
@port_option
@data_options
@click.option(
    "--image",
    type=click.Path(path_type=Path),
    metavar="CAT.jpg",
    help="A picture as the input; prints the five best classes.",
)
@output_options
def command(
    board: str,
    folder: Path | None,
    port: str | None,
    input_file: Path | None,
    output_file: Path | None,
    image: Path | None,
    **values: Any,
) -> None:  # fmt: skip
    """Run a finished build on its board; an emulated board starts by itself."""
    from compiler import api, arrays
    from compiler.errors import UsageError
    from compiler.report.progress import bar
    from compiler.report.tables import outputs_table, top_classes

    if image is not None and input_file is not None:
        raise UsageError("--image and --input exclude each other; give one")
    _, built = api.open_build(board, folder)
    if image is not None:
        inputs = api.image_inputs(built, image)
    elif input_file is not None:
        inputs = arrays.read_npz(input_file)
    else:
        warn("no --input and no --image: running once on random numbers")
        inputs = arrays.random_inputs(built.inputs, 1)
    result = api.run(inputs, board=board, out=folder, port=port, progress=bar)
    if output_file is not None:
        arrays.write_npz(output_file, result.outputs)
    best = top_classes(result.outputs, built.manifest) if image is not None else None
    if values["as_json"]:
        written = str(output_file) if output_file else None
        answer: dict[str, Any] = {"runs": result.runs, "outputs_file": written}
        answer["seconds"] = result.seconds
        if best is not None:
            answer["top"] = best
        print_json(answer)
        return
    out.print(outputs_table(result.outputs, best))
    out.print(f"{result.runs} run(s) on {board} in {result.seconds:.2f} s", soft_wrap=True)
