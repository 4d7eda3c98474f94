"""The 256-entry tables that integer unary operators become: exact by construction."""

from __future__ import annotations

import numpy as np

from compiler.graph import OpView
from compiler.registry import reference


def unary_table(view: OpView) -> np.ndarray:
    """``table[index]`` for each value of an 8-bit input, in the order of its unsigned byte.

    The table is the `reference` attribute evaluated on all 256 values, (256,) of the output's
    dtype: ``table[(uint8_t)x]`` is the operator.
    """
    codes = np.arange(256, dtype=np.uint8).view(view.input(0).dtype)
    result = reference[view.op.kind](view, codes)
    assert isinstance(result, np.ndarray)
    return result
