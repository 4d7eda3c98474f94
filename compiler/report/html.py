"""The page of ``inspect --html``: one file with the graph, the memory map and the sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from compiler.graph import DTYPE_BYTES
from compiler.report.map_svg import MemoryDrawing, draw_memory
from compiler.report.units import byte_text, exact_bytes, ratio_text, shape_text, short

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """A headline number."""

    title: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Operand:
    """A tensor of a row; ``producer`` is the index of the row that makes it."""

    name: str
    text: str
    producer: int | None = None


@dataclass(frozen=True)
class Measure:
    """A number in a table with a bar; ``share`` is 0..1 of the column's largest."""

    value: int
    share: float


@dataclass(frozen=True)
class PageRow:
    """An operator or a step. ``bytes`` is what its outputs take."""

    index: int
    operator: str
    name: str
    kernel: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    macs: Measure
    weight_bytes: Measure
    bytes: Measure
    live_bytes: Measure


def inspect_page(facts: Facts) -> str:
    """HTML of a build's manifest, or of what ``inspect`` says of a model. Needs no network."""
    is_build = "steps" in facts
    rows = _rows(facts["steps"] if is_build else facts["operators"])
    page: str = _template().render(
        title=facts.get("model") or "model",
        subtitle=_subtitle(facts),
        figures=_figures(facts, rows),
        drawing=_drawing(facts) if is_build and "memory" in facts else None,
        rows=rows,
        is_build=is_build,
        tensors=[(role, row) for role in ("input", "output") for row in facts[role + "s"]],
        flash=_flash_parts(facts.get("flash_bytes") or {}),
        details=_details(facts),
    )
    return page


@cache
def _template() -> Any:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "bytes": byte_text, "exact": exact_bytes, "short": short, "shape": shape_text,
    }  # fmt: skip
    text = files("compiler.report").joinpath("page.html.j2").read_text(encoding="utf-8")
    return environment.from_string(text)


def _subtitle(facts: Facts) -> str:
    parts = []
    if "target" in facts:
        on = f" on {facts['board']}" if facts.get("board") else ""
        parts.append(f"compiled for {facts['target']}{on}")
    if facts.get("numerics"):
        parts.append(f"numerics {facts['numerics']}")
    return " · ".join(parts)


def _figures(facts: Facts, rows: Sequence[PageRow]) -> list[Figure]:
    figures = []
    if "arena_bytes" in facts:
        note = ratio_text(facts["arena_bytes"], facts["arena_lower_bound_bytes"])
        figures.append(Figure("arena", byte_text(facts["arena_bytes"]), note))
        scratch = facts.get("scratch_bytes", 0)
        figures.append(Figure("scratch in it", byte_text(scratch), "the most of one step"))
    flash = facts.get("flash_bytes") or {}
    if flash:
        total = flash.get("total", sum(flash.values()))
        figures.append(Figure("flash", byte_text(total), "code, tables and weights"))
    weights = sum(row.weight_bytes.value for row in rows)
    figures.append(Figure("constants", byte_text(weights), "weights, biases, tables"))
    figures.append(Figure("multiply-adds", short(sum(row.macs.value for row in rows)), "per run"))
    what = "steps" if "steps" in facts else "operators"
    figures.append(Figure(what, str(len(rows))))
    return figures


def _rows(entries: Sequence[Facts]) -> list[PageRow]:
    producers = {t["name"]: i for i, entry in enumerate(entries) for t in entry.get("outputs", ())}
    sizes = [sum(_tensor_bytes(t) for t in entry.get("outputs", ())) for entry in entries]
    macs = _measures([entry["macs"] for entry in entries])
    weights = _measures([entry["weight_bytes"] for entry in entries])
    live = _measures([entry.get("live_bytes", 0) for entry in entries])
    return [
        PageRow(
            index=index,
            operator=entry["operator"],
            name=entry.get("name", ""),
            kernel=entry.get("kernel", ""),
            inputs=tuple(_operand(t, producers) for t in entry.get("inputs", ())),
            outputs=tuple(_operand(t, {}) for t in entry.get("outputs", ())),
            macs=macs[index],
            weight_bytes=weights[index],
            bytes=size,
            live_bytes=live[index],
        )
        for index, (entry, size) in enumerate(zip(entries, _measures(sizes), strict=True))
    ]


def _operand(tensor: Facts, producers: Mapping[str, int]) -> Operand:
    text = f"{tensor['dtype']} {shape_text(tensor['shape'])}"
    return Operand(tensor["name"], text, producers.get(tensor["name"]))


def _tensor_bytes(tensor: Facts) -> int:
    count = DTYPE_BYTES[tensor["dtype"]]
    for size in tensor["shape"]:
        count *= size
    return count


def _measures(values: Sequence[int]) -> list[Measure]:
    most = max(values, default=0) or 1
    return [Measure(value, value / most) for value in values]


def _drawing(facts: Facts) -> MemoryDrawing:
    return draw_memory(
        facts["memory"],
        [step["operator"] for step in facts["steps"]],
        facts["arena_bytes"],
        facts["arena_lower_bound_bytes"],
    )


def _flash_parts(flash: Mapping[str, int]) -> list[tuple[str, int, float]]:
    """(section, bytes, share of all)."""
    parts = {key: value for key, value in flash.items() if key != "total"}
    whole = sum(parts.values()) or 1
    return [(key, value, value / whole) for key, value in parts.items()]


def _details(facts: Facts) -> list[tuple[str, str]]:
    details = []
    for key in ("model_sha256", "code_hash", "image", "toolchain"):
        if facts.get(key):
            details.append((key.replace("_", " "), str(facts[key])))
    memory = facts.get("memory")
    if memory:
        details.append(("planner", memory["method"] + (", optimal" if memory["optimal"] else "")))
        details.append(("arena alignment", f"{memory['alignment']} B"))
    details += [(f"tool {name}", str(text)) for name, text in (facts.get("tools") or {}).items()]
    return details
