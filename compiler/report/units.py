"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def grouped(value: float) -> str:
    """12345 as "12,345"; a fraction is kept to one digit where it says something."""
    if value != int(value) and abs(value) < 1000:
        return f"{value:,.1f}"
    return f"{round(value):,}"


def short(value: float) -> str:
    """12345678 as "12.3 M": three digits and a power of 1000."""
    for limit, suffix in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if abs(value) >= limit:
            scaled = value / (1e3 if suffix == " k" else limit)
            return f"{scaled:.3g}{suffix}" if scaled < 999.5 else f"{scaled:.0f}{suffix}"
    return grouped(value)


def byte_text(count: int) -> str:
    """49152 as "48.0 KiB"; under 1 KiB in bytes."""
    if count < 1024:
        return f"{count} B"
    if count < 1024**2:
        return f"{count / 1024:.1f} KiB"
    return f"{count / 1024**2:.2f} MiB"


def exact_bytes(count: int) -> str:
    """49152 as "49,152 B (48.0 KiB)"."""
    return f"{count:,} B ({byte_text(count)})" if count >= 1024 else f"{count} B"


def shape_text(shape: Sequence[int]) -> str:
    """(1, 32, 32, 3) as "1x32x32x3"; a scalar as "scalar"."""
    return "x".join(str(size) for size in shape) or "scalar"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def ratio_text(arena_bytes: int, bound_bytes: int) -> str:
    """How far an arena is from its lower bound."""
    if arena_bytes <= bound_bytes:
        return "at the lower bound"
    return f"{arena_bytes / max(bound_bytes, 1):.3f} x the lower bound of {bound_bytes:,} B"
