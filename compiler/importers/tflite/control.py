"""Bounds on the operators that control flow adds to a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from compiler.errors import UnsupportedError

MOST_OPERATORS = 20_000
DEEPEST = 8  # subgraphs that run each other


class Inlined:
    """What has been added so far."""

    def __init__(self) -> None:
        self._operators = 0
        self._calls = 0
        self._depth = 0

    @contextmanager
    def count(self, operators: int) -> Iterator[int]:
        """Around the reading of one subgraph; gives the call a number. Raises UnsupportedError."""
        self._operators += operators + 1
        if self._operators > MOST_OPERATORS or self._depth >= DEEPEST:
            raise UnsupportedError(
                f"control flow needs more than {MOST_OPERATORS} operators, or {DEEPEST} subgraphs "
                f"that run each other"
            )
        self._calls += 1
        self._depth += 1
        try:
            yield self._calls
        finally:
            self._depth -= 1
