"""What ``--budget`` allows: latency, RAM and accuracy of a model in mixed precision."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.errors import UsageError

_UNITS = {"": 1, "b": 1, "k": 1024, "kb": 1000, "kib": 1024, "m": 1024**2, "mb": 1000**2,
          "mib": 1024**2}  # fmt: skip
_NUMBER = re.compile(r"([0-9]*\.?[0-9]+)\s*([a-z%]*)", re.IGNORECASE)

#: Output SQNR in dB that is asked for where no budget is given.
DEFAULT_DB = 30.0


@dataclass(frozen=True)
class Budget:
    """``latency`` in multiples of the int8 model's, by multiply-accumulates, of which one with
    16-bit activations counts twice and a float one four times; ``ram_bytes`` of the arena;
    ``sqnr_db`` of the outputs at least; ``changed`` at most, the share of calibration samples
    whose best class is not float's.
    """

    latency: float | None = None
    ram_bytes: int | None = None
    sqnr_db: float | None = None
    changed: float | None = None

    @property
    def has_accuracy(self) -> bool:
        return self.sqnr_db is not None or self.changed is not None


def parse_budget(texts: Sequence[str]) -> Budget:
    """From ``latency=1.3x``, ``ram=64KiB``, ``accuracy=30dB`` or ``accuracy=1%``.

    Raises UsageError.
    """
    found: dict[str, float] = {}
    for text in texts:
        for part in text.split(","):
            name, value = _parse(part.strip())
            found[name] = value
    if not found:
        return Budget(sqnr_db=DEFAULT_DB)
    ram = found.get("ram_bytes")
    return Budget(
        found.get("latency"), None if ram is None else int(ram), found.get("sqnr_db"),
        found.get("changed"),
    )  # fmt: skip


def _parse(text: str) -> tuple[str, float]:
    kind, _, rest = text.partition("=")
    number = _NUMBER.fullmatch(rest.strip())
    if number is not None:
        value, unit = float(number[1]), number[2].lower()
        if kind == "latency" and unit in ("", "x"):
            return "latency", value
        if kind == "ram" and unit in _UNITS:
            return "ram_bytes", value * _UNITS[unit]
        if kind == "accuracy" and unit == "db":
            return "sqnr_db", value
        if kind == "accuracy" and unit == "%":
            return "changed", value / 100
    raise UsageError(
        f"--budget '{text}': write latency=1.3x, ram=64KiB, accuracy=30dB or accuracy=1%"
    )
