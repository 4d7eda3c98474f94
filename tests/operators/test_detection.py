"""The end of SSD detectors against LiteRT's kernel, and the C kernel against ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

from compiler.errors import ModelError
from compiler.importers import read_model
from compiler.invariants import check_graph
from compiler.kernels import kernel_named
from compiler.simulator import Simulator
from tests.support.kernel_harness import MACHINES, Case, check
from tests.support.tflite_builder import Builder, run_litert

COUNT = 60
OPTIONS: dict[str, Any] = {
    "max_detections": 8, "max_classes_per_detection": 1, "detections_per_class": 5,
    "use_regular_nms": False, "nms_score_threshold": 0.3, "nms_iou_threshold": 0.4,
    "num_classes": 5, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0,
}  # fmt: skip
VARIANTS: list[dict[str, Any]] = [
    {}, {"use_regular_nms": True}, {"max_classes_per_detection": 3}, {"nms_score_threshold": 0.999},
    {"use_regular_nms": True, "max_detections": 30}, {"nms_iou_threshold": 0.05}, {"background": 0},
    {"use_regular_nms": True, "nms_score_threshold": 0.9, "detections_per_class": 1},
]  # fmt: skip


def anchors(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([rng.uniform(0, 1, (COUNT, 2)), rng.uniform(0.1, 0.5, (COUNT, 2))], 1)


def model(rng: np.random.Generator, dtype: str = "float32", **changes: Any) -> bytes:
    options = {**OPTIONS, **changes}
    columns = options["num_classes"] + options.pop("background", 1)
    b = Builder()
    scales: list[dict[str, Any]] = [{}, {}, {}]
    table = anchors(rng)
    if dtype != "float32":
        scales = [{"scale": 0.06, "zero_point": 128}, {"scale": 1 / 256}, {"scale": 1 / 200}]
        table = np.rint(table * 200)
    codes = b.tensor("codes", (1, COUNT, 4), dtype, **scales[0])
    scores = b.tensor("scores", (1, COUNT, columns), dtype, **scales[1])
    constant = b.tensor("anchors", (COUNT, 4), dtype, data=table, **scales[2])
    outputs = [b.tensor(name, (), "float32") for name in ("boxes", "classes", "best", "count")]
    b.custom("TFLite_Detection_PostProcess", [codes, scores, constant], outputs,
             bytes(flexbuffers.Dumps(options)))  # fmt: skip
    return b.build([codes, scores], outputs)


def values(rng: np.random.Generator, columns: int, dtype: str) -> dict[str, np.ndarray]:
    codes = rng.normal(0, 2, (1, COUNT, 4))
    scores = rng.uniform(0, 1, (1, COUNT, columns))
    if dtype == "float32":
        return {"codes": codes.astype(dtype), "scores": scores.astype(dtype)}
    return {
        "codes": np.clip(codes / 0.06 + 128, 0, 255).astype(dtype),
        "scores": rng.permutation(np.arange(scores.size) % 256).reshape(scores.shape).astype(dtype),
    }


@pytest.mark.parametrize("changes", VARIANTS, ids=lambda c: "-".join(c) or "plain")
def test_as_litert(changes: dict[str, Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    dtype = "float32"
    data = model(rng, dtype, **changes)
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    graph = read_model(path)
    check_graph(graph)
    for _ in range(5):
        inputs = values(rng, graph.tensors["scores"].shape[2], dtype)
        found = Simulator(graph).run(inputs)
        wanted = dict(zip(("boxes", "classes", "best", "count"), run_litert(data, inputs),
                          strict=True))  # fmt: skip
        assert found["count"] == wanted["count"]
        rows = int(wanted["count"].item())
        if not changes.get("use_regular_nms"):
            rows *= changes.get("max_classes_per_detection", 1)
        for name in ("boxes", "classes", "best"):
            np.testing.assert_allclose(
                found[name][0, :rows], wanted[name].reshape(found[name].shape)[0, :rows], atol=1e-5
            )
            assert not found[name][0, rows:].any()


def test_quantized_inputs_are_dequantized(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    data = model(rng, "uint8")
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    graph = read_model(path)
    inputs = values(rng, 6, "uint8")
    found, wanted = Simulator(graph).run(inputs), run_litert(data, inputs)
    rows = int(wanted[3].item())
    assert rows == int(found["count"].item()) > 1
    np.testing.assert_allclose(found["best"][0, :rows], wanted[2][0, :rows], atol=1e-6)
    np.testing.assert_allclose(found["boxes"][0, :rows], wanted[0][0, :rows], atol=1e-5)


@pytest.mark.parametrize("machine", ["host-sanitized", "cortex-m4"])
def test_kernel(machine: str, tmp_path: Path) -> None:
    MACHINES[machine].require()
    rng = np.random.default_rng(3)
    kernel = kernel_named("detection_postprocess_float32__reference")
    cases = []
    for changes in VARIANTS:
        path = tmp_path / "model.tflite"
        path.write_bytes(model(rng, **changes))
        graph = read_model(path)
        view = graph.view(graph.ops[-1])
        inputs = values(rng, graph.tensors["scores"].shape[2], "float32")
        cases.append(Case(kernel, view, (*inputs.values(), graph.tensors["anchors"].data)))
    check(cases, MACHINES[machine])


def test_damaged_options(tmp_path: Path) -> None:
    b = Builder()
    inputs = [b.tensor(f"x{i}", (1, 4, 4), "float32") for i in range(3)]
    outputs = [b.tensor(f"y{i}", (), "float32") for i in range(4)]
    b.custom("TFLite_Detection_PostProcess", inputs, outputs, b"\x01\x02")
    path = tmp_path / "model.tflite"
    path.write_bytes(b.build(inputs, outputs))
    with pytest.raises(ModelError, match="options are"):
        read_model(path)
