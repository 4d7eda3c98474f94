"""Checks a packing from first principles; shares no code with the planners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.schedule import LiveBuffer


def faults(
    buffers: Sequence[LiveBuffer], offsets: Mapping[str, int], arena_bytes: int, alignment: int
) -> list[str]:
    """What is wrong with the packing, a sentence each; empty if it is sound.

    Two buffers that are both live at some step must not have a byte in common; each lies at a
    multiple of ``alignment`` and inside the arena; each buffer has one offset and one name.
    """
    found = []
    if len({b.name for b in buffers}) != len(buffers):
        found.append("two buffers have the same name")
    if unknown := sorted(set(offsets) - {b.name for b in buffers}):
        found.append(f"offset for '{unknown[0]}', which is no buffer")
    for buffer in buffers:
        if buffer.name not in offsets:
            found.append(f"buffer '{buffer.name}' has no offset")
            continue
        offset = offsets[buffer.name]
        if buffer.last < buffer.first:
            found.append(f"buffer '{buffer.name}' ends before it begins")
        if offset % alignment:
            found.append(f"buffer '{buffer.name}' at {offset} is not aligned to {alignment}")
        if offset < 0 or offset + buffer.bytes > arena_bytes:
            found.append(f"buffer '{buffer.name}' reaches outside the arena")
    placed = sorted(
        (b for b in buffers if b.name in offsets), key=lambda b: (offsets[b.name], b.name)
    )
    for position, lower in enumerate(placed):
        end = offsets[lower.name] + lower.bytes
        for upper in placed[position + 1 :]:
            if offsets[upper.name] >= end:
                break
            if max(lower.first, upper.first) <= min(lower.last, upper.last) and upper.bytes:
                found.append(f"buffers '{lower.name}' and '{upper.name}' overlap")
    return found
