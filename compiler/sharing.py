"""Groups of tensors that lie at fixed distances of each other, and so share one buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from compiler.graph import DTYPE_BYTES, Graph, Tensor


@dataclass(frozen=True)
class Spot:
    """Bytes ``[start, end)`` of a group, which may be negative; ``tensor`` lies there."""

    tensor: Tensor
    start: int

    @property
    def end(self) -> int:
        return self.start + self.tensor.bytes

    def overlaps(self, other: Spot) -> bool:
        return self.start < other.end and other.start < self.end


#: ``clash(a, b)``: whether two tensors of groups to be joined must not overlap there.
Clash = Callable[[Spot, Spot], bool]


@dataclass
class Sharing:
    """Which tensors share a buffer, and at which distances. Joining groups is all it does."""

    tensors: dict[str, Tensor]
    group_of: dict[str, str]  # tensor -> its group, which has the name of a member
    starts: dict[str, int] = field(default_factory=dict)  # tensor -> byte in its group
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extents: dict[str, tuple[int, int]] = field(default_factory=dict)  # first byte, one after last

    @classmethod
    def of(cls, graph: Graph) -> Sharing:
        """Every tensor that is not a constant alone in its own group."""
        made = {*graph.inputs, *(name for op in graph.ops for name in op.outputs)}
        tensors = {
            name: tensor
            for name, tensor in graph.tensors.items()
            if tensor.is_state or (name in made and not tensor.is_constant)
        }
        return cls(
            tensors,
            {name: name for name in tensors},
            dict.fromkeys(tensors, 0),
            {name: (name,) for name in tensors},
            {name: (0, tensor.bytes) for name, tensor in tensors.items()},
        )

    def copy(self) -> Sharing:
        return Sharing(
            self.tensors,
            dict(self.group_of),
            dict(self.starts),
            dict(self.members),
            dict(self.extents),
        )

    def spot(self, name: str) -> Spot:
        return Spot(self.tensors[name], self.starts[name])

    def spots(self, group: str) -> Iterator[Spot]:
        return (self.spot(name) for name in self.members[group])

    def bytes(self, group: str) -> int:
        low, high = self.extents[group]
        return high - low

    def join(self, name: str, host: str, offset: int, clash: Clash) -> bool:
        """Put tensor ``name`` at ``offset`` of ``host``, with all that goes along.

        Returns False, and does nothing, where tensors would clash or lose their alignment.
        """
        group, host_group = self.group_of[name], self.group_of[host]
        shift = self.starts[host] + offset - self.starts[name]
        if group == host_group:
            return shift == 0
        moved = [Spot(s.tensor, s.start + shift) for s in self.spots(group)]
        kept = list(self.spots(host_group))
        if any(a.overlaps(b) and clash(a, b) for a in moved for b in kept):
            return False
        if not _aligned([*kept, *moved]):
            return False
        self.members[host_group] += self.members.pop(group)
        (low, high), (host_low, host_high) = self.extents.pop(group), self.extents[host_group]
        self.extents[host_group] = min(low + shift, host_low), max(high + shift, host_high)
        for spot in moved:
            self.group_of[spot.tensor.name] = host_group
            self.starts[spot.tensor.name] = spot.start
        return True


def _aligned(spots: Iterable[Spot]) -> bool:
    """Whether every tensor lies at a multiple of its element size from the first byte."""
    spots = list(spots)
    low = min(s.start for s in spots)
    return all((s.start - low) % DTYPE_BYTES[s.tensor.dtype] == 0 for s in spots)
