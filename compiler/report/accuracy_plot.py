"""The plot of ``check``: a bar per layer, as SVG, as a page, or as a PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from compiler import files
from compiler.errors import UsageError

FORMATS = (".svg", ".html", ".png")

#: Lengths in pixels.
WIDTH, ROW, TOP, BOTTOM = 900, 18, 76, 34
NAME_WIDTH, VALUE_WIDTH = 330, 70
LONGEST_NAME = 46

GOOD, POOR, GRID, INK, QUIET = "#2f7fb8", "#d1495b", "#dddddd", "#222222", "#666666"


@dataclass(frozen=True)
class _Rectangle:
    x: float
    y: float
    width: float
    height: float
    color: str
    hint: str = ""


@dataclass(frozen=True)
class _Words:
    x: float
    y: float  # of the baseline
    text: str
    color: str = INK
    size: int = 12
    anchor: str = "start"


_Shape = _Rectangle | _Words


def check_plot_format(path: Path) -> None:
    """Raises UsageError where the name's ending is none of FORMATS."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"--plot '{path}': end it in {', '.join(FORMATS)}")


def write_plot(path: Path, found: Mapping[str, Any]) -> None:
    """Draw the JSON of ``check`` into ``path``, whose ending says how."""
    check_plot_format(path)
    suffix = path.suffix.lower()
    if suffix == ".png":
        files.write_bytes(path, _png(found))
    elif suffix == ".svg":
        files.write_text(path, plot_svg(found))
    else:
        title = escape(f"Accuracy of {found['model']}")
        files.write_text(
            path,
            f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
            f"<body>\n{plot_svg(found)}</body>\n</html>\n",
        )


def _summary(found: Mapping[str, Any]) -> str:
    parts = [f"{found['samples']} samples"]
    for name, values in found["metrics"].items():
        pairs = [f"{k} {v:.4g}" for k, v in values.items() if v is not None]
        parts.append(f"{name}: {', '.join(pairs)}")
    return "; ".join(parts)


def _height(layers: Sequence[Any]) -> int:
    return TOP + ROW * len(layers) + BOTTOM


def _shapes(found: Mapping[str, Any]) -> list[_Shape]:
    layers = found["layers"]
    most = max([60.0, *(row["sqnr_db"] for row in layers if row["sqnr_db"] < 150)])
    scale = (WIDTH - NAME_WIDTH - VALUE_WIDTH) / most
    bottom = TOP + ROW * len(layers)
    title = f"{found['model']} on {found['board_name']}: SQNR by layer, dB"
    shapes: list[_Shape] = [
        _Words(12, 26, title, size=16), _Words(12, 48, _summary(found), QUIET),
    ]  # fmt: skip
    for level in range(0, int(most) + 1, 10):
        x = NAME_WIDTH + level * scale
        shapes.append(_Rectangle(x, TOP - 6, 1, bottom - TOP + 8, GRID))
        shapes.append(_Words(x, bottom + 18, str(level), QUIET, anchor="middle"))
    for index, row in enumerate(layers):
        y = TOP + ROW * index
        width = min(max(row["sqnr_db"], 0.0), most) * scale
        name = row["name"] if len(row["name"]) <= LONGEST_NAME else (
            "…" + row["name"][1 - LONGEST_NAME :]
        )  # fmt: skip
        hint = f"{row['name']}: {row['operator']}, {row['sqnr_db']:.1f} dB"
        color = POOR if row["name"] in found["worst"] else GOOD
        shapes.append(_Words(NAME_WIDTH - 8, y + 12, name, anchor="end"))
        shapes.append(_Rectangle(NAME_WIDTH, y + 2, max(width, 1), ROW - 5, color, hint))
        shapes.append(_Words(NAME_WIDTH + width + 6, y + 12, f"{row['sqnr_db']:.1f}", QUIET))
    return shapes


def plot_svg(found: Mapping[str, Any]) -> str:
    """The SVG element; worst layers stand out by colour."""
    height = _height(found["layers"])
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for shape in _shapes(found):
        if isinstance(shape, _Rectangle):
            hint = f"<title>{escape(shape.hint)}</title>" if shape.hint else ""
            lines.append(
                f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
                f'height="{shape.height:.1f}" fill="{shape.color}">{hint}</rect>'
            )
        else:
            lines.append(
                f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size}" '
                f'fill="{shape.color}" text-anchor="{shape.anchor}">{escape(shape.text)}</text>'
            )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _png(found: Mapping[str, Any]) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (WIDTH, _height(found["layers"])), "white")
    draw = ImageDraw.Draw(picture)
    anchors = {"start": "ls", "middle": "ms", "end": "rs"}
    for shape in _shapes(found):
        if isinstance(shape, _Rectangle):
            corner = shape.x + shape.width - 1, shape.y + shape.height - 1
            draw.rectangle(((shape.x, shape.y), corner), fill=shape.color)
            continue
        font = ImageFont.load_default(shape.size)
        is_scalable = isinstance(font, ImageFont.FreeTypeFont)
        anchor = anchors[shape.anchor] if is_scalable else None
        draw.text((shape.x, shape.y), shape.text, shape.color, font, anchor)
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()
