"""Progress over a series of long steps; nothing where nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.progress import track

#: ``progress(items, description)`` yields the items and shows how far it is.
Progress = Callable[[Sequence[Any], str], Iterable[Any]]


def silent(items: Sequence[Any], description: str) -> Iterable[Any]:
    """Shows nothing."""
    return items


def bar(items: Sequence[Any], description: str) -> Iterable[Any]:
    """A bar on standard error, which goes away when done."""
    return track(items, description, console=Console(stderr=True), transient=True)
