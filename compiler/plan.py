"""The plan: every buffer of a schedule at an offset of the one arena, with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.planner import pack
from compiler.planner.verify import faults
from compiler.schedule import LiveBuffer, Schedule, scratch_name


@dataclass(frozen=True, eq=False)
class Plan:
    """``offsets`` are in bytes from the arena's start, by the name of the buffer.

    ``lower_bound_bytes`` is what no plan of these buffers can go below; ``method`` names the
    planner that found this one; ``optimal``: it is proven that no plan is smaller.
    """

    schedule: Schedule
    offsets: Mapping[str, int]
    arena_bytes: int
    lower_bound_bytes: int
    method: str
    optimal: bool

    @property
    def buffers(self) -> tuple[LiveBuffer, ...]:
        return self.schedule.buffers

    @property
    def ratio(self) -> float:
        """Arena over lower bound: 1 is the best there can be."""
        return self.arena_bytes / self.lower_bound_bytes if self.lower_bound_bytes else 1.0

    @property
    def scratch_bytes(self) -> int:
        """The most scratch that one step has."""
        return max((step.call.scratch_bytes for step in self.schedule.steps), default=0)

    @property
    def state_bytes(self) -> int:
        return sum(b.bytes for b in self.buffers if b.fixed)

    def tensor_offset(self, name: str) -> int:
        """Where a tensor starts in the arena; KeyError for a constant."""
        place = self.schedule.places[name]
        return self.offsets[place.buffer] + place.offset

    def scratch_offset(self, step: int, operand: int) -> int:
        """Where the scratch that is operand ``operand`` of step ``step`` starts."""
        return self.offsets[scratch_name(step, operand)]


def plan(schedule: Schedule) -> Plan:
    """The smallest arena found, verified. The same schedule always gives the same plan."""
    packing = pack(schedule.buffers, schedule.alignment)
    found = faults(schedule.buffers, packing.offsets, packing.bytes, schedule.alignment)
    if found:
        raise AssertionError(f"the planner '{packing.method}' made a wrong plan: {found[0]}")
    return Plan(
        schedule,
        offsets=packing.offsets,
        arena_bytes=packing.bytes,
        lower_bound_bytes=packing.lower_bound_bytes,
        method=packing.method,
        optimal=packing.optimal,
    )
