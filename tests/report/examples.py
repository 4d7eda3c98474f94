"""A small build and its profile, as the commands' JSON has them."""

from __future__ import annotations

from typing import Any

from compiler.graph import Graph, Op, Tensor
from compiler.kernels import Call, Kernel, Output, Scratch
from compiler.loading import load_builtins
from compiler.operators.movement import ReshapeParams
from compiler.plan import Plan, plan
from compiler.report.memory import memory_map
from compiler.schedule import Schedule, Step
from compiler.storage import place_tensors


class AnyKernel(Kernel):
    name = "any_int8__reference"


def small_plan() -> Plan:
    """in -> conv2d (with scratch) -> reshape -> fully_connected -> out."""
    load_builtins()
    shapes = {"in": (1, 8, 8, 2), "a": (1, 8, 8, 4), "flat": (1, 256), "out": (1, 10)}
    tensors = {name: Tensor(name, shape, "int8") for name, shape in shapes.items()}
    ops = (
        Op("conv2d", "net/first[1]", ("in",), ("a",)),
        Op("reshape", "flatten", ("a",), ("flat",), ReshapeParams((1, 256))),
        Op("fully_connected", "net/last", ("flat",), ("out",)),
    )
    graph = Graph("small", tensors, ops, ("in",), ("out",))
    steps = []
    for index, op in enumerate(ops):
        scratch = (Scratch(64),) if op.kind == "conv2d" else ()
        call = Call("s", {}, (Output(0), *scratch))
        steps.append(Step(index, graph.view(op), AnyKernel(), call))
    places, buffers, kept = place_tensors(graph, steps, 16)
    return plan(Schedule(graph, ("reference",), kept, places, 16, buffers))


def build_json() -> dict[str, Any]:
    made = small_plan()
    memory = memory_map(made)

    def row(name: str) -> dict[str, Any]:
        tensor = made.schedule.graph.tensors[name]
        return {"name": name, "shape": list(tensor.shape), "dtype": tensor.dtype}

    def step(index: int, operator: str, name: str, source: str, made: str) -> dict[str, Any]:
        return {
            "index": index, "name": name, "operator": operator, "kernel": "any_int8__reference",
            "macs": 18432 if index == 0 else 2560, "weight_bytes": 88, "scratch_bytes": 64,
            "live_bytes": memory["live_bytes"][index + 1],
            "inputs": [row(source)], "outputs": [row(made)],
        }  # fmt: skip

    return {
        "model": "small", "model_sha256": "ab" * 32, "numerics": "tflite", "board": "host",
        "target": "reference", "image": "firmware", "blob_bytes": 3000,
        "arena_bytes": made.arena_bytes, "arena_lower_bound_bytes": made.lower_bound_bytes,
        "scratch_bytes": made.scratch_bytes, "state_bytes": 0,
        "flash_bytes": {"text": 1000, "rodata": 200, "blob": 3000, "total": 4200},
        "inputs": [row("in") | {"scale": 0.5, "zero_point": -3}],
        "outputs": [row("out") | {"scale": None, "zero_point": None}],
        "steps": [
            step(0, "conv2d", "net/first[1]", "in", "a"),
            step(1, "fully_connected", "net/last", "flat", "out"),
        ],
        "memory": memory, "labels": ["cat", "dog"], "tools": {"gcc": "12.2"},
    }  # fmt: skip


def profile_json() -> dict[str, Any]:
    build = build_json()
    keys = ("index", "name", "operator", "kernel", "macs", "live_bytes")
    return {
        "board": "host", "unit": "cycles", "runs": 10,
        "total": {"median": 40500.0, "min": 40000.0, "max": 41000.0},
        "arena_bytes": build["arena_bytes"], "arena_high_water_bytes": 448, "stack_bytes": 0,
        "steps": [
            {key: step[key] for key in keys} | {"median": ticks}
            for step, ticks in zip(build["steps"], (30000.0, 10000.0), strict=True)
        ],
    }  # fmt: skip


def model_facts() -> dict[str, Any]:
    """What ``inspect`` says of a model file, with a name that HTML must not take for markup."""
    build = build_json()
    keys = ("name", "operator", "inputs", "outputs", "macs", "weight_bytes")
    return {
        "model": "<b>net</b> & co", "numerics": "fast", "inputs": build["inputs"],
        "outputs": build["outputs"], "macs": 20992, "weight_bytes": 176, "labels": [],
        "operators": [{key: step[key] for key in keys} for step in build["steps"]],
    }  # fmt: skip
