"""The results as tables for a terminal and as a page with plots."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

PARTICIPANTS = ("kiln", "litert", "onnxruntime", "openvino", "ncnn")
COLOURS = {
    "kiln": "#0b6e4f", "litert": "#f4a259", "onnxruntime": "#5b8ff9", "openvino": "#9270ca",
    "ncnn": "#aaaaaa",
}  # fmt: skip

Results = Mapping[str, Any]


def fastest_peer(row: Results) -> str | None:
    peers = {n: r["us"] for n, r in row["times"].items() if n != "kiln" and "us" in r}
    return min(peers, key=lambda n: peers[n]) if peers else None


def ratio(row: Results) -> float | None:
    """Time of the fastest peer over Kiln's: above 1 Kiln is faster."""
    peer = fastest_peer(row)
    if peer is None or "us" not in row["times"].get("kiln", {}):
        return None
    return float(row["times"][peer]["us"] / row["times"]["kiln"]["us"])


def share_of_peak(row: Results, peak: Mapping[str, float]) -> float | None:
    kiln = row["times"].get("kiln", {})
    return row["macs"] / (kiln["us"] * 1e3) / peak[row["dtype"]] if "us" in kiln else None


def geometric_mean(results: Results, dtype: str) -> float | None:
    ratios = [r for row in results["rows"] if row["dtype"] == dtype and row["model"] != "empty"
              and (r := ratio(row)) is not None]  # fmt: skip
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def time_text(result: Results | None) -> Text:
    if result is None or "us" not in result:
        return Text("-", style="dim")
    us = result["us"]
    shown = f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 1000 else f"{us:,.0f}"
    return Text.assemble(shown, (f" ±{result['spread'] / 2:.0%}", "dim"))


def tables(results: Results) -> RenderableType:
    parts: list[RenderableType] = []
    peak = results["peak"]
    parts.append(
        f"peak of one core: float32 {peak['float32']:.0f} GMAC/s, int8 {peak['int8']:.0f} GMAC/s; "
        f"isa {results['isa']}, {results['threads']} thread(s) for the peers, Kiln 1"
    )
    for dtype in ("int8", "float32"):
        rows = [row for row in results["rows"] if row["dtype"] == dtype]
        if not rows:
            continue
        table = Table(title=f"{dtype}: microseconds per inference, median ± half the quartiles")
        table.add_column("model")
        for name in (*PARTICIPANTS, "vs fastest peer", "of peak"):
            table.add_column(name, justify="right")
        for row in rows:
            table.add_row(row["model"], *_cells(row, peak))
        parts.append(table)
        if (mean := geometric_mean(results, dtype)) is not None:
            parts.append(f"{dtype}: geometric mean against the fastest peer {mean:.2f}x")
    parts.append(footprint(results))
    errors = [
        f"{row['model']} {row['dtype']}: {r['error']}"
        for row in results["rows"] for r in row["times"].values() if "error" in r
    ]  # fmt: skip
    return Group(*parts, *errors, *results["notes"])


def _cells(row: Results, peak: Mapping[str, float]) -> list[RenderableType]:
    cells: list[RenderableType] = []
    for name in PARTICIPANTS:
        text = time_text(row["times"].get(name))
        if name == fastest_peer(row):
            text.stylize("bold")
        cells.append(text)
    gain, share = ratio(row), share_of_peak(row, peak)
    style = "green" if gain is not None and gain > 1 else "red"
    cells.append(Text("-" if gain is None else f"{gain:.2f}x", style=style))
    cells.append("-" if share is None else f"{share:.0%}")
    return cells


def footprint(results: Results) -> RenderableType:
    """What a user pays, of the first int8 row (or the first)."""
    rows = [r for r in results["rows"] if r["model"] != "empty"]
    row = next((r for r in rows if r["dtype"] == "int8"), rows[0])
    table = Table(title=f"what {row['model']} {row['dtype']} costs besides")
    for name in ("", "files", "first result after", "memory"):
        table.add_column(name, justify="right" if name else "left")
    for name, result in row["times"].items():
        if "us" in result:
            table.add_row(
                name, f"{result['files_kb']:,} KB", f"{result['start_ms']:.2f} ms",
                f"{result['memory_kb']:,} KB",
            )  # fmt: skip
    return table


def page(results: Results) -> str:
    """A page of its own: bars per model, relative to the fastest peer, and the numbers."""
    charts = "".join(_chart(results, dtype) for dtype in ("int8", "float32"))
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in results["notes"])
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Kiln host benchmark</title>"
        "<style>body{font:14px system-ui;max-width:60em;margin:2em auto;color:#222}"
        "svg{width:100%}text{font:12px system-ui}</style><h1>Kiln host benchmark</h1>"
        f"<p>{html.escape(results['cpu'])}, {html.escape(results['isa'])}. Bars are time relative "
        f"to Kiln: shorter is faster.</p>{charts}<ul>{notes}</ul></html>"
    )


def _chart(results: Results, dtype: str) -> str:
    rows = [r for r in results["rows"] if r["dtype"] == dtype and share_of_peak(r, results["peak"])]
    parts, y = [], 10
    for row in rows:
        parts.append(f'<text x="0" y="{y + 12}" font-weight="bold">{row["model"]}</text>')
        kiln = row["times"]["kiln"]["us"]
        for name in PARTICIPANTS:
            result = row["times"].get(name, {})
            if "us" not in result:
                continue
            relative = result["us"] / kiln
            width = min(relative, 6) * 90
            parts.append(
                f'<rect x="230" y="{y}" width="{width:.1f}" height="13" fill="{COLOURS[name]}"/>'
                f'<text x="140" y="{y + 11}">{name}</text>'
                f'<text x="{width + 236:.1f}" y="{y + 11}">{result["us"]:,.1f} us '
                f"({relative:.2f})</text>"
            )
            y += 16
        y += 10
    head = f"<h2>{dtype}</h2>"
    body = "".join(parts)
    return f'{head}<svg viewBox="0 0 940 {y}" role="img">{body}</svg>' if rows else ""
