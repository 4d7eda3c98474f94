"""The table of ``check``: metrics of each version, and the layers that lose most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from compiler.report.parts import add_row, bar, fact_list, name_text, new_table

Row = Mapping[str, Any]

TITLES = {"top1": "top-1", "top5": "top-5", "agreement": "same best class",
          "sqnr_db": "output SQNR"}  # fmt: skip
SHARES = ("top1", "top5", "agreement")

#: A bar of this many dB is full; 8 bits that fit a signal exactly give about 50.
FULL_DB = 60.0


def check_table(found: Row, *, verbose: bool = False) -> RenderableType:
    """From the JSON of ``check``; with ``verbose`` all layers."""
    parts: list[RenderableType] = [_head(found), Text(), _metrics(found)]
    layers = found["layers"]
    shown = layers if verbose else [row for row in layers if row["name"] in found["worst"]]
    if shown:
        title = "all layers" if verbose else "the layers that lose most"
        parts += [Text(), Text(title, style="bold"), layer_table(shown)]
        parts += _advice(layers)
    elif layers:
        lowest = min(layers, key=lambda row: row["sqnr_db"])
        parts += [Text(), Text(f"no layer stands out: the lowest SQNR is {lowest['sqnr_db']:.1f} "
                               f"dB, of {lowest['name']}")]  # fmt: skip
    return Group(*parts)


def _head(found: Row) -> Table:
    calibrated = found["calibrated_on"]
    how = {"compiled": "kernels compiled for this machine", "simulated": "the numpy simulator"}
    equal = {None: None, True: "equal to this machine's", False: "NOT equal to this machine's"}
    return fact_list(
        ("model", found["model"]),
        ("board", found["board_name"]),
        ("quantize", found["quantize"]),
        ("samples", f"{found['samples']}" + (
            f", besides {calibrated} that calibrated" if calibrated else ""
        )),
        ("run by", how[found["run_by"]]),
        ("board's outputs", equal[found["board_equals_simulator"]]),
    )  # fmt: skip


def _metrics(found: Row) -> Table:
    has_board = found["board_equals_simulator"] is not None
    columns = ["float", "quantized", *(["board"] if has_board else [])]
    table = new_table("metric", *((title, "right") for title in columns), ("change", "right"))
    for name, values in found["metrics"].items():
        cells = [_value(name, values[column]) for column in columns]
        add_row(table, TITLES.get(name, name), *cells, _change(name, values))
    return table


def _value(name: str, value: float | None) -> str:
    if value is None:
        return ""
    if name in SHARES:
        return f"{100 * value:.2f} %"
    return f"{value:.1f} dB" if name == "sqnr_db" else f"{value:.4g}"


def _change(name: str, values: Row) -> str:
    if values["float"] is None or values["quantized"] is None:
        return ""
    change = values["quantized"] - values["float"]
    return f"{100 * change:+.2f}" if name in SHARES else f"{change:+.4g}"


def layer_table(layers: Sequence[Row]) -> Table:
    """SQNR of each layer's output; "lost" is against its worst input."""
    table = new_table(("layer", "name"), ("operator", "whole"), ("SQNR", "right"),
                      ("lost", "right"), "")  # fmt: skip
    for row in layers:
        share = min(max(row["sqnr_db"], 0.0) / FULL_DB, 1.0)
        add_row(
            table, name_text(row["name"]), row["operator"], f"{row['sqnr_db']:.1f} dB",
            f"{row['lost_db']:.1f}", bar(share, 20),
        )  # fmt: skip
    return table


def _advice(layers: Sequence[Row]) -> list[RenderableType]:
    """What to try, each once, with the layers that it is for."""
    named: dict[str, list[str]] = {}
    for row in layers:
        for advice in row["try"]:
            named.setdefault(advice, []).append(row["name"])
    if not named:
        return []
    most = max(map(len, named.values()))
    rows: list[RenderableType] = [Text(), Text("what to try", style="bold")]
    for advice, names in named.items():
        whose = "" if len(names) == most else f" (for {', '.join(names)})"
        rows.append(Text(f"{advice}{whose}"))
    return rows
