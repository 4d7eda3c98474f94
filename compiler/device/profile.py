"""What a profile of a board is, and how it is collected over the serial protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.arrays import random_inputs
from compiler.device.session import Session
from compiler.errors import UsageError


@dataclass(frozen=True, eq=False)
class Profile:
    """``ticks[run, step]`` and ``totals[run]`` in ``unit``: cycles, instructions or ns."""

    board: str
    unit: str
    ticks: np.ndarray
    totals: np.ndarray
    arena_high_water_bytes: int
    stack_bytes: int
    manifest: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The JSON object of `profile`: see "Command line" in DESIGN.md."""
        medians = np.median(self.ticks, axis=0)
        whole = float(medians.sum()) or 1.0
        keys = ("index", "name", "operator", "kernel", "macs", "live_bytes")
        return {
            "board": self.board,
            "unit": self.unit,
            "runs": len(self.totals),
            "total": {
                "median": float(np.median(self.totals)),
                "min": float(self.totals.min()),
                "max": float(self.totals.max()),
            },
            "arena_bytes": self.manifest["arena_bytes"],
            "arena_high_water_bytes": self.arena_high_water_bytes,
            "stack_bytes": self.stack_bytes,
            "steps": [
                {key: step[key] for key in keys}
                | {"median": float(median), "share": float(median) / whole}
                for step, median in zip(self.manifest["steps"], medians, strict=True)
            ],
        }


def collect_profile(session: Session, runs: int) -> Profile:
    """Run ``runs`` times with the step hook on. Raises BoardError, UsageError."""
    if runs < 1:
        raise UsageError(f"--runs {runs}: give at least 1")
    info = session.client.info
    inputs = random_inputs(session.build.inputs, 1)
    for index, tensor in enumerate(session.build.inputs):
        session.client.write_input(index, inputs[tensor.name].tobytes())
    measured = session.client.profile(runs)
    memory = session.client.memory()
    return Profile(
        board=str(session.build.manifest["board"]),
        unit=info.unit,
        ticks=measured.ticks,
        totals=measured.totals,
        arena_high_water_bytes=memory.arena_high_water_bytes,
        stack_bytes=memory.stack_bytes,
        manifest=session.build.manifest,
    )
