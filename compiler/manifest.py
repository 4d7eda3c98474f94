"""``build.json``: what was built, for people and scripts; section "Command line" of DESIGN.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.arrays import TensorInfo
from compiler.emit import Emitted, manifest_tensor
from compiler.errors import UsageError
from compiler.graph import Graph, Tensor
from compiler.plan import Plan
from compiler.registry import count_macs
from compiler.report.memory import memory_map

FILE_NAME = "build.json"


def model_manifest(plan: Plan, emitted: Emitted, model: bytes) -> dict[str, Any]:
    """All keys that do not depend on the firmware."""
    schedule = plan.schedule
    graph = schedule.graph
    memory = memory_map(plan)
    return {
        "model": graph.name,
        "model_sha256": hashlib.sha256(model).hexdigest(),
        "code_hash": emitted.code.hash.hex(),
        "numerics": graph.numerics,
        "target": schedule.chain[0],
        "arena_bytes": plan.arena_bytes,
        "arena_lower_bound_bytes": plan.lower_bound_bytes,
        "scratch_bytes": plan.scratch_bytes,
        "state_bytes": plan.state_bytes,
        "blob_bytes": len(emitted.blob),
        "inputs": [manifest_tensor(graph.tensors[n]) for n in graph.inputs],
        "outputs": [manifest_tensor(graph.tensors[n]) for n in graph.outputs],
        "steps": [
            {
                "index": step.index,
                "name": step.name,
                "operator": step.view.op.kind,
                "kernel": step.kernel.name,
                "macs": count_macs(step.view),
                "scratch_bytes": step.call.scratch_bytes,
                "weight_bytes": step.weight_bytes,
                "live_bytes": memory["live_bytes"][step.index + 1],
                "inputs": _tensor_rows(step.view.inputs),
                "outputs": _tensor_rows(step.view.outputs),
            }
            for step in schedule.steps
        ],
        "memory": memory,
        "labels": list(graph.labels),
        "preprocessing": _preprocessing(graph),
    }


def _tensor_rows(tensors: Sequence[Tensor | None]) -> list[dict[str, Any]]:
    """Those that are not constants."""
    return [
        {"name": t.name, "shape": list(t.shape), "dtype": t.dtype}
        for t in tensors
        if t is not None and not t.is_constant
    ]


def _preprocessing(graph: Graph) -> Mapping[str, Any]:
    return {
        name: {"mean": list(p.mean), "std": list(p.std)} for name, p in graph.preprocessing.items()
    }


@dataclass(frozen=True, eq=False)
class Build:
    """A finished build folder."""

    folder: Path
    manifest: Mapping[str, Any]

    @property
    def inputs(self) -> Sequence[TensorInfo]:
        return [TensorInfo.of(entry) for entry in self.manifest["inputs"]]

    @property
    def outputs(self) -> Sequence[TensorInfo]:
        return [TensorInfo.of(entry) for entry in self.manifest["outputs"]]

    @property
    def image(self) -> Path:
        return self.folder / str(self.manifest["image"])


def read_build(folder: Path, board: str | None = None) -> Build:
    """The build in ``folder``, which must be for ``board`` if one is given. Raises UsageError."""
    path = folder / FILE_NAME
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"'{folder}' holds no build; run `build --board {board or 'B'} --out {folder}` first"
        ) from None
    except (OSError, ValueError):
        raise UsageError(f"'{path}' is damaged; build again") from None
    if board is not None and manifest.get("board") != board:
        raise UsageError(
            f"'{folder}' is a build for board '{manifest.get('board')}', not '{board}'; "
            f"build for it, or give its folder with --out"
        )
    return Build(folder, manifest)
