"""Operators that move elements, in every dtype, against LiteRT's reference kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.operators.litert import Case, Spec, compare
from tests.operators.specs import random_spec


def ints(*values: Any) -> Spec:
    data = np.array(values[0] if len(values) == 1 else values)
    return Spec(data.shape, "int32", data=data)


def data(*shape: int) -> Spec:
    """A tensor of the dtype that is tested."""
    return Spec(shape, "")


@dataclass(frozen=True)
class Movement:
    name: str
    inputs: Sequence[Spec]
    outputs: Sequence[Spec]
    fields: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    not_int16: bool = False

    @property
    def options(self) -> str:
        words = self.name.replace("_ND", "_N_D").title().split("_")
        return "".join(words).replace("Padv2", "PadV2") + "Options"


MOVEMENTS = [
    Movement("PAD", [data(2, 3, 4), ints([[1, 2], [0, 1], [0, 0]])], [data(5, 4, 4)], version=2),
    Movement("PADV2", [data(2, 3), ints([[1, 0], [0, 2]]), Spec((), "", data=np.array(7))],
             [data(3, 5)], version=2),
    Movement("MIRROR_PAD", [data(2, 3, 4), ints([[1, 0], [2, 2], [0, 3]])], [data(3, 7, 7)]),
    Movement("MIRROR_PAD", [data(2, 3), ints([[2, 1], [0, 3]])], [data(5, 6)], {"mode": 1}),
    Movement("TRANSPOSE", [data(2, 3, 4, 2), ints(3, 1, 0, 2)], [data(2, 3, 2, 4)], version=2),
    Movement("GATHER", [data(5, 4), ints(3, 0, 1, 3)], [data(4, 4)], {"axis": 0}),
    Movement("TILE", [data(2, 3), ints(2, 3)], [data(4, 9)], version=2),
    Movement("SLICE", [data(4, 5), ints(1, 2), ints(2, 3)], [data(2, 3)], version=2),
    Movement("STRIDED_SLICE", [data(4, 5), ints(0, 4), ints(4, 0), ints(2, -1)], [data(2, 4)],
             version=2),
    Movement("SPLIT", [ints(1), data(3, 6)], [data(3, 2)] * 3, {"numSplits": 3}, 2),
    Movement("DEPTH_TO_SPACE", [data(1, 2, 3, 8)], [data(1, 4, 6, 2)], {"blockSize": 2},
             not_int16=True),
    Movement("SPACE_TO_DEPTH", [data(1, 4, 6, 2)], [data(1, 2, 3, 8)], {"blockSize": 2},
             not_int16=True),
    Movement("SELECT_V2", [Spec((2, 1), "bool"), data(2, 3), data(1, 3)], [data(2, 3)]),
    Movement("PACK", [data(2, 3), data(2, 3)], [data(2, 2, 3)], {"axis": 1, "valuesCount": 2}, 2),
    Movement("UNPACK", [data(2, 3)], [data(2)] * 3, {"axis": 1, "num": 3}, 2),
    Movement("EXPAND_DIMS", [data(2, 3), ints(1)], [data(2, 1, 3)]),
    Movement("SPACE_TO_BATCH_ND", [data(1, 4, 4, 2), ints(2, 2), ints([[0, 0], [2, 0]])],
             [data(4, 2, 3, 2)], version=2),
    Movement("BATCH_TO_SPACE_ND", [data(4, 2, 3, 2), ints(2, 2), ints([[0, 0], [2, 0]])],
             [data(1, 4, 4, 2)], version=2),
    Movement("CONCATENATION", [data(2, 3, 1), data(2, 3, 4)], [data(2, 3, 5)], {"axis": -1}, 3),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("movement", MOVEMENTS, ids=lambda movement: movement.name)
def test_movement(movement: Movement, dtype: str, tmp_path: Path) -> None:
    """All tensors share one scale and zero point."""
    if movement.not_int16 and dtype == "int16":
        pytest.skip("TFLite does not take int16 here")
    rng = np.random.default_rng(1)
    model = random_spec(rng, (), dtype)

    def filled(spec: Spec) -> Spec:
        return spec if spec.dtype else replace(model, shape=spec.shape, data=spec.data)

    case = Case(
        movement.name, [filled(s) for s in movement.inputs], [filled(s) for s in movement.outputs],
        movement.options, movement.version, movement.fields,
    )  # fmt: skip
    compare(case, tmp_path, rng)


def test_concatenation_of_different_scales(tmp_path: Path) -> None:
    """TFLite has it for uint8 only, in float32."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        parts = [random_spec(rng, (2, 3, size), "uint8") for size in (4, 1, 100)]
        whole = random_spec(rng, (2, 3, 105), "uint8")
        case = Case("CONCATENATION", parts, [whole], "ConcatenationOptions", 1, {"axis": -1})
        compare(case, tmp_path, rng)
