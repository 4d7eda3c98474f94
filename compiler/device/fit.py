"""Whether code, model, arena and stack fit the memory of a chip."""

from __future__ import annotations

import re

from compiler.board import Board, Region
from compiler.errors import FitError

#: GNU ld, then lld.
_OVERFLOW = re.compile(r"region [`'](\w+)'(?: |: )overflowed by (\d+) bytes")
_FIT_REMEDY = "use int8, a smaller model, --optimize size or ram, or a bigger board"


def check_fit(board: Board, blob_bytes: int, arena_bytes: int) -> None:
    """Raises FitError where blob, arena and stack alone are already more than the chip has."""
    chip = board.chip
    need: dict[str, int] = {}
    uses = ((chip.code, blob_bytes), (chip.arena, arena_bytes), (chip.data, chip.stack_bytes))
    for name, size in uses:
        if name is not None:
            need[name] = need.get(name, 0) + size
    for region in chip.regions:
        check_region(board, region, need.get(region.name, 0))


def check_region(board: Board, region: Region, need: int) -> None:
    """Raises FitError where ``need`` bytes are more than the region has."""
    if need > region.bytes:
        raise FitError(
            f"board '{board.name}': the model does not fit {region.name}: needs {need:,} bytes, "
            f"has {region.bytes:,}, {need - region.bytes:,} too many; {_FIT_REMEDY}"
        )


def check_overflow(board: Board, log: str) -> None:
    """Raises FitError where the linker's ``log`` says that a region overflowed."""
    over: dict[str, int] = {}
    for name, count in _OVERFLOW.findall(log):
        over[name] = max(over.get(name, 0), int(count))
    for name, count in over.items():
        region = board.chip.region(name)
        if region is not None:
            check_region(board, region, region.bytes + count)
