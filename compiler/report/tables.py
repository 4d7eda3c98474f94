"""What the commands print: tables made from the plain values that ``--json`` gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from compiler.report.map_text import map_text
from compiler.report.outputs import outputs_table, top_classes
from compiler.report.parts import add_row, bar, fact_list, name_text, new_table
from compiler.report.units import exact_bytes, grouped, percent, ratio_text, shape_text, short

__all__ = [
    "boards_table", "build_table", "inspect_table", "ops_table", "outputs_table", "profile_table",
    "steps_table", "targets_table", "top_classes",
]  # fmt: skip

Row = Mapping[str, Any]


def build_table(manifest: Row, *, verbose: bool = False) -> RenderableType:
    """Summary of a build; with ``verbose`` its steps and memory map as well."""
    summary = fact_list(
        ("model", manifest.get("model")),
        ("board", manifest.get("board")),
        ("target", manifest.get("target")),
        ("numerics", manifest.get("numerics")),
        ("inputs", _tensors(manifest["inputs"])),
        ("outputs", _tensors(manifest["outputs"])),
        ("steps", len(manifest["steps"])),
        ("MACs", short(sum(step["macs"] for step in manifest["steps"]))),
        ("arena", _arena(manifest)),
        ("scratch in it", _present(manifest, "scratch_bytes")),
        ("state in it", _present(manifest, "state_bytes")),
        ("blob", exact_bytes(manifest["blob_bytes"])),
        ("flash", _flash(manifest.get("flash_bytes"))),
    )
    if not verbose:
        return summary
    return Group(summary, Text(), steps_table(manifest["steps"]), Text(), *_memory(manifest))


def inspect_table(subject: Row) -> RenderableType:
    """A model's operators, or a build's steps, memory map and sizes."""
    if "steps" in subject:
        return build_table(subject, verbose=True)
    head = fact_list(
        ("model", subject.get("model")),
        ("numerics", subject.get("numerics")),
        ("inputs", _tensors(subject["inputs"])),
        ("outputs", _tensors(subject["outputs"])),
        ("operators", len(subject["operators"])),
        ("MACs", short(subject["macs"])),
        ("constants", exact_bytes(subject["weight_bytes"])),
    )
    table = new_table(
        ("operator", "whole"), ("name", "name"), ("output", "whole"),
        ("MACs", "right"), ("constants", "right"),
    )  # fmt: skip
    for row in subject["operators"]:
        add_row(
            table, row["operator"], name_text(row["name"]), _tensors(row["outputs"], named=False),
            _count(row["macs"]), _count(row["weight_bytes"]),
        )  # fmt: skip
    return Group(head, Text(), table)


def steps_table(steps: Sequence[Row]) -> Table:
    """One row per kernel call; a column that would be empty is left out."""
    numbers = {"macs": "MACs", "weight_bytes": "constants", "scratch_bytes": "scratch",
               "live_bytes": "live"}  # fmt: skip
    shown = {key: title for key, title in numbers.items() if any(s.get(key) for s in steps)}
    table = new_table(
        ("#", "right"), ("name", "name"), ("kernel", "whole"), ("output", "whole"),
        *((title, "right") for title in shown.values()),
    )  # fmt: skip
    for step in steps:
        add_row(
            table, str(step["index"]), name_text(step.get("name", "")), step["kernel"],
            _tensors(step.get("outputs", ()), named=False),
            *(_count(step.get(key, 0)) for key in shown),
        )  # fmt: skip
    return table


def profile_table(profile: Row) -> RenderableType:
    """Where the time goes, step by step."""
    unit = profile["unit"]
    table = new_table(
        ("#", "right"), ("name", "name"), ("kernel", "whole"), (_short_unit(unit), "right"),
        ("share", "right"), ("", "whole"), (f"MAC/{_short_unit(unit)[:2]}", "right"),
    )  # fmt: skip
    whole = sum(step["median"] for step in profile["steps"]) or 1
    longest = max((step["median"] for step in profile["steps"]), default=0) or 1
    for step in profile["steps"]:
        median = step["median"]
        add_row(
            table, str(step["index"]), name_text(step.get("name", ""), 16),
            step["kernel"], grouped(median),
            percent(median / whole), bar(median / longest, 5), _rate(step["macs"], median),
        )  # fmt: skip
    total = profile["total"]
    spread = f"{grouped(total['min'])} to {grouped(total['max'])}"
    runs = profile["runs"]
    summary = fact_list(
        ("board", profile["board"]),
        ("total", f"{grouped(total['median'])} {unit}, median of {runs} ({spread})"),
        ("arena used", exact_bytes(profile["arena_high_water_bytes"])),
        ("stack used", _present(profile, "stack_bytes")),
    )
    return Group(table, Text(), summary)


def boards_table(rows: Sequence[Row]) -> Table:
    """What can be built for."""
    table = new_table(("board", "whole"), ("target", "whole"), "reached by", "description")
    for row in rows:
        add_row(
            table, Text(str(row["name"]), style="bold"), str(row.get("target", "")),
            ", ".join(row.get("runners", ())), str(row.get("description", "")),
        )  # fmt: skip
    return table


def targets_table(rows: Sequence[Row]) -> Table:
    """The instruction sets and where they fall back to."""
    table = new_table("target", "kernels looked for in", ("own kernels", "right"), "description")
    for row in rows:
        add_row(
            table, Text(str(row["name"]), style="bold"), " → ".join(row["chain"]),
            str(row["kernels"]), str(row["description"]),
        )  # fmt: skip
    return table


def ops_table(rows: Sequence[Row]) -> Table:
    """Operator by target: the dtypes of input 0 that its kernels take, i8 for int8 and so on."""
    targets = sorted({target for row in rows for target in row["targets"]})
    table = new_table(("operator", "whole"), "class", *targets)
    for row in rows:
        cells = [_dtypes(row["targets"].get(target, ())) for target in targets]
        style = "" if any(cells) else "dim"
        add_row(table, Text(row["operator"], style="bold"), row["class"] or "", *cells, style=style)
    return table


# -- parts


def _memory(manifest: Row) -> list[RenderableType]:
    if "memory" not in manifest:
        return []
    picture = map_text(manifest["memory"]["buffers"], len(manifest["steps"]))
    return [Text("memory: steps to the right, arena offset downwards", style="bold cyan"), picture]


def _tensors(rows: Sequence[Row], *, named: bool = True) -> str:
    texts = (
        f"{row['name'] + ' ' if named else ''}{row['dtype']} {shape_text(row['shape'])}"
        for row in rows
    )
    return ", ".join(texts)


def _dtypes(names: Sequence[str]) -> str:
    """Short, and the wide ones last: i8 u8 i16 f32."""
    bits = {name: int("".join(c for c in name if c.isdigit()) or 1) for name in names}
    ordered = sorted(names, key=lambda name: (bits[name], name))
    return " ".join(
        n.replace("float", "f").replace("uint", "u").replace("int", "i") for n in ordered
    )


def _arena(manifest: Row) -> str:
    arena = manifest["arena_bytes"]
    text = f"{exact_bytes(arena)}, {ratio_text(arena, manifest['arena_lower_bound_bytes'])}"
    proven = manifest.get("memory", {}).get("optimal")
    missed = arena > manifest["arena_lower_bound_bytes"]
    return f"{text} (proven to be the least)" if proven and missed else text


def _flash(flash: Mapping[str, int] | None) -> str | None:
    if not flash:
        return None
    parts = ", ".join(f"{key} {value:,}" for key, value in flash.items() if key != "total")
    total = flash.get("total", sum(flash.values()))
    return f"{exact_bytes(total)}: {parts}"


def _present(row: Row, key: str) -> str | None:
    return exact_bytes(row[key]) if row.get(key) else None


def _count(value: int) -> str:
    return f"{value:,}" if value else ""


def _rate(macs: int, ticks: float) -> str:
    return f"{macs / ticks:.2f}" if macs and ticks else ""


def _short_unit(unit: str) -> str:
    return {"instructions": "instr"}.get(unit, unit)
