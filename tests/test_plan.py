"""Whole plans: the arenas of the MLPerf Tiny models, and what a plan answers."""

from __future__ import annotations

import itertools

import pytest

from compiler.graph import Graph, Op, OpView, Tensor
from compiler.importers import read_model
from compiler.kernels import Call, Kernel, Output, Scratch
from compiler.loading import load_builtins
from compiler.order import order_graph
from compiler.passes import CANONICAL, FUSION, run_passes
from compiler.passes.io import convert_io
from compiler.plan import Plan, plan
from compiler.registry import op_class
from compiler.schedule import Schedule, Step
from compiler.storage import place_tensors
from tests.support.zoo_models import zoo_model

load_builtins()


class AnyKernel(Kernel):
    """Works in place where an elementwise kernel can."""

    def in_place(self, view: OpView) -> dict[int, int | tuple[int, ...]]:
        if op_class.get(view.op.kind) not in ("elementwise", "broadcast"):
            return {}
        fitting = (i for i, t in enumerate(view.inputs) if t and t.bytes == view.output().bytes)
        return {0: tuple(fitting)}


def lowered(model: str) -> Graph:
    graph = run_passes(read_model(zoo_model(model), {}), CANONICAL)
    return run_passes(convert_io(graph, "int8"), FUSION)


def planned(graph: Graph, alignment: int, scratch_bytes: int = 0) -> Plan:
    call = Call("s", {}, (Output(0), *((Scratch(scratch_bytes),) if scratch_bytes else ())))
    graph = order_graph(graph)
    steps = [Step(i, graph.view(op), AnyKernel(), call) for i, op in enumerate(graph.ops)]
    places, buffers, kept = place_tensors(graph, steps, alignment)
    return plan(Schedule(graph, ("any",), kept, places, alignment, buffers))


@pytest.mark.parametrize("alignment", [4, 16, 64])
@pytest.mark.parametrize(
    ("model", "arena_bytes"),
    [
        ("ic_resnet8_int8.tflite", 49152),
        ("kws_dscnn_int8.tflite", 16000),
        ("vww_mobilenetv1_025_int8.tflite", 55296),
        ("ad_autoencoder_int8.tflite", 768),
    ],
)
def test_mlperf_tiny_arenas_are_the_live_tensors_and_no_more(
    model: str, arena_bytes: int, alignment: int
) -> None:
    graph = lowered(model)
    made = planned(graph, alignment)
    assert made.arena_bytes == made.lower_bound_bytes == arena_bytes
    assert planned(graph, alignment, 1024).arena_bytes == arena_bytes + 1024


def test_a_better_order_than_the_file_has_shrinks_the_arena() -> None:
    graph = lowered("kws_onoff_int8.tflite")
    assert planned(graph, 16).arena_bytes == 19608  # 21,560 in the file's order


def test_offsets_of_tensors_and_scratch() -> None:
    tensors = {name: Tensor(name, (40,), "int8") for name in "xyz"}
    ops = (Op("conv2d", "first", ("x",), ("y",)), Op("conv2d", "second", ("y",), ("z",)))
    made = planned(Graph("net", tensors, ops, ("x",), ("z",)), 16, 8)
    assert made.ratio == 1.0 and made.optimal
    assert made.scratch_bytes == 8 and made.state_bytes == 0
    assert made.arena_bytes == 2 * 48 + 8
    held = [(made.tensor_offset(n), 40) for n in "xy"] + [(made.scratch_offset(0, 1), 8)]
    spans = sorted((start, start + size) for start, size in held)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    with pytest.raises(KeyError):
        made.tensor_offset("nothing")
