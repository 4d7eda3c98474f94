"""What the shared SIMD kernels need to know of an instruction set to lay out their constants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Isa:
    """``lanes`` of 32 bits in a vector; tiles have up to ``columns`` vectors of channels."""

    target: str
    lanes: int
    int8_columns: int
    float_columns: int
    #: Added to each int8 activation before it is multiplied: 128 where it is read as unsigned.
    input_offset: int = 0
    #: MACs per cycle of the inner loop, for ``cost``.
    int8_macs: float = 16.0
    float_macs: float = 8.0
