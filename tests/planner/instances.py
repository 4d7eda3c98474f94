"""Makes packing problems: some like networks, some whose best packing has no gap at all."""

from __future__ import annotations

import random

from compiler.schedule import LiveBuffer


def network(seed: int, steps: int, skip_share: float) -> list[LiveBuffer]:
    """A chain of layers; some results are read again later, some steps have scratch."""
    dice = random.Random(seed)
    buffers = [LiveBuffer("input", dice.randrange(1, 4000), -1, 0)]
    for step in range(steps):
        reach = dice.randrange(2, 12) if dice.random() < skip_share else 1
        size = dice.randrange(1, 4096)
        buffers.append(LiveBuffer(f"result {step}", size, step, min(step + reach, steps)))
        if dice.random() < 0.2:
            buffers.append(LiveBuffer(f"scratch {step}", dice.randrange(1, 2000), step, step))
    return buffers


def tiling(seed: int, count: int, steps: int, height: int, unit: int) -> list[LiveBuffer]:
    """A rectangle of ``height`` units cut into ``count`` buffers: the bound can be reached.

    The kind of instance that MiniMalloc's authors publish as hard for heuristics.
    """
    dice = random.Random(seed)
    pieces = [(0, steps, 0, height)]
    while len(pieces) < count:
        areas = [(t1 - t0) * (y1 - y0) * dice.random() for t0, t1, y0, y1 in pieces]
        t0, t1, y0, y1 = pieces.pop(areas.index(max(areas)))
        if t1 - t0 > 1 and (dice.random() < 0.5 or y1 - y0 == 1):
            cut = dice.randrange(t0 + 1, t1)
            pieces += [(t0, cut, y0, y1), (cut, t1, y0, y1)]
        elif y1 - y0 > 1:
            cut = dice.randrange(y0 + 1, y1)
            pieces += [(t0, t1, y0, cut), (t0, t1, cut, y1)]
        else:
            pieces.append((t0, t1, y0, y1))
    return [
        LiveBuffer(f"piece {i}", (y1 - y0) * unit, t0, t1 - 1)
        for i, (t0, t1, y0, y1) in enumerate(pieces)
    ]
