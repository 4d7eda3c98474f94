"""What the shared SIMD kernels need to know of an instruction set to lay out their constants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Isa:
    """``lanes`` of 32 bits in a vector; tiles have up to ``columns`` vectors of channels."""

    target: str
    lanes: int
    int8_columns: int
    float_columns: int
    #: Added to each int8 activation before it is multiplied: 128 where it is read as unsigned.
    input_offset: int = 0
    #: Whether the four weights of a lane lie as two pairs, all lanes' first pairs foremost.
    pairs: bool = False
    #: MACs per cycle of the inner loop, for ``cost``.
    int8_macs: float = 16.0
    float_macs: float = 8.0

    def quad_order(self) -> np.ndarray:
        """The element of a block of four vectors that each of their lanes has.

        Bytes are interleaved within 128 bits: vector v, part L, lane e has 16 L + 4 v + e.
        """
        parts = self.lanes // 4
        return np.arange(4 * self.lanes).reshape(parts, 4, 4).transpose(1, 0, 2).ravel()
