"""What a user may choose for a build, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compiler.errors import UsageError
from compiler.graph import Shape

QUANTIZE = ("none", "int8", "int16x8", "fp16", "mixed")
NUMERICS = ("tflite", "fast")
OPTIMIZE = ("speed", "size", "ram")
IO = ("model", "int8", "float")
RANGES = ("minmax", "percentile", "mse", "kl")
ROUNDING = ("nearest", "adaptive")
STAGES = ("read", "canonical", "quantized", "fused", "schedule", "plan")


@dataclass(frozen=True)
class BuildOptions:
    """Options of ``build`` and ``simulate``; the names are those of the command line."""

    quantize: str = "none"
    calibration: Path | None = None
    ranges: str = "mse"
    rounding: str = "nearest"
    equalize: bool = False
    budget: tuple[str, ...] = ()
    numerics: str = "tflite"
    optimize: str = "speed"
    io: str = "model"
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    toolchain: str | None = None
    plugins: tuple[Path, ...] = ()
    write_quantized: Path | None = None
    dump: Path | None = None
    stop_after: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in (
            ("quantize", QUANTIZE),
            ("numerics", NUMERICS),
            ("optimize", OPTIMIZE),
            ("io", IO),
            ("ranges", RANGES),
            ("rounding", ROUNDING),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise UsageError(f"--{name} '{value}': choose one of {', '.join(allowed)}")


def parse_shape(text: str) -> tuple[str, Shape]:
    """``NAME=1,96,96,1`` -> (name, shape). Raises UsageError."""
    name, separator, dims = text.rpartition("=")
    try:
        shape = tuple(int(d) for d in dims.split(","))
    except ValueError:
        shape = ()
    if not separator or not name or not shape or min(shape) < 1:
        raise UsageError(f"--shape '{text}': write NAME=1,96,96,1 with positive sizes")
    return name, shape
