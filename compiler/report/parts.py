"""Pieces that the tables of all commands are made of."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text


def new_table(*columns: str | tuple[str, str]) -> Table:
    """An empty table; a column is a title, or a title and its kind.

    Numbers stand "right"; a "whole" cell is never broken; a "name" is cut where room is scarce.
    """
    made = Table(box=None, header_style="bold cyan", pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        title, justify = (column, "left") if isinstance(column, str) else column
        made.add_column(
            Text(title),
            justify="right" if justify == "right" else "left",
            no_wrap=justify in ("right", "whole"),
            min_width=8 if justify == "name" else None,
            overflow="ellipsis" if justify == "name" else "fold",
        )
    return made


def add_row(table: Table, *cells: str | Text, style: str = "") -> None:
    """Strings are shown as they are: names from files are not markup."""
    table.add_row(*(Text(c) if isinstance(c, str) else c for c in cells), style=style)


def fact_list(*rows: tuple[str, object]) -> Table:
    """Titles and values; those without a value are left out."""
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(style="cyan", no_wrap=True)
    made.add_column(overflow="fold")
    for title, value in rows:
        if value not in (None, ""):
            made.add_row(title, Text(str(value)))
    return made


def name_text(name: str, width: int = 30) -> Text:
    """A name from a model file: not markup, and its end, which tells more, if it is long."""
    return Text(name if len(name) <= width else "…" + name[1 - width :])


def bar(share: float, width: int = 16) -> Text:
    """A bar of block characters, to an eighth of a cell; ``share`` is 0..1."""
    eighths = round(share * width * 8)
    partial = "▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else ""
    return Text("█" * (eighths // 8) + partial, style="cyan")
