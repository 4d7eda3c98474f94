"""Resizing against LiteRT's reference kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.operators.litert import Case, Spec, compare

#: Height and width before and after.
SIZES = [
    ((4, 5), (7, 9)), ((7, 9), (4, 5)), ((3, 3), (6, 6)), ((8, 8), (1, 1)), ((1, 1), (5, 4)),
    ((2, 3), (2, 3)), ((5, 4), (13, 3)),
]  # fmt: skip


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16"])
@pytest.mark.parametrize("name", ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])
def test_resize(name: str, dtype: str, flags: tuple[bool, bool], tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    options = "ResizeBilinear" if name == "RESIZE_BILINEAR" else "ResizeNearestNeighbor"
    quantized = {} if dtype == "float32" else {"scale": 0.1, "zero_point": 3}
    if dtype == "int16":
        quantized["zero_point"] = 0
    for before, after in SIZES:
        x = Spec((2, *before, 3), dtype, **quantized)
        size = Spec((2,), "int32", data=np.array(after))
        y = Spec((2, *after, 3), dtype, **quantized)
        fields = {"alignCorners": flags[0], "halfPixelCenters": flags[1]}
        compare(Case(name, [x, size], [y], f"{options}Options", 3, fields), tmp_path, rng)
