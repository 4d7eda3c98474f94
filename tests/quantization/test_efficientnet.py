"""EfficientNet-Lite0 in int8 sees in photographs what it sees in float."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from export_efficientnet import MEAN, STD, build_model
from torch_checkpoint import read_state_dict

from compiler.accuracy.metrics import agreement, output_sqnr_db
from compiler.arrays import TensorInfo
from compiler.executor import make_runner
from compiler.image import read_image
from compiler.importers import read_model
from compiler.loading import load_builtins
from compiler.options import BuildOptions
from compiler.passes import CANONICAL, run_passes
from compiler.paths import ROOT
from compiler.quantization import quantize_graph
from tests.support.zoo_models import zoo_model

PHOTOGRAPHS = ROOT.parent / "shared" / "data" / "imagenet_dev"

#: Every EIGHTH picture calibrates; of the others, 97 of 100 must keep their top-1, and the logits
#: this signal to noise ratio in dB.
EIGHTH = 8
AGREEMENT = 0.97


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("rounding", "least_db"), [("nearest", 22.5), ("adaptive", 23.5)])
def test_top_1_stays(tmp_path: Path, rounding: str, least_db: float) -> None:
    paths = sorted(PHOTOGRAPHS.glob("*.jpg"))
    if not paths:
        pytest.skip(f"no photographs in {PHOTOGRAPHS}")
    load_builtins()
    model = build_model(read_state_dict(zoo_model("efficientnet-lite0.pth")))
    file = tmp_path / "efficientnet.onnx"
    file.write_bytes(model.SerializeToString())
    graph = run_passes(read_model(file), CANONICAL)
    tensor = graph.tensors["image"]
    info = TensorInfo("image", tensor.shape, tensor.dtype, None, None)
    figures = {"mean": MEAN, "std": STD}
    inputs = [{"image": read_image(path, info, figures)} for path in paths]
    chosen, rest = inputs[::EIGHTH], [x for i, x in enumerate(inputs) if i % EIGHTH]
    options = BuildOptions(quantize="int8", rounding=rounding)
    executor = make_runner(quantize_graph(graph, options, samples=chosen)).open()
    session = onnxruntime.InferenceSession(str(file))
    wanted = np.concatenate([session.run(None, x)[0] for x in rest])
    found = np.concatenate([executor.run(x)["logits"] for x in rest])
    assert agreement(wanted, found) >= AGREEMENT
    assert output_sqnr_db({"logits": wanted}, {"logits": found}) >= least_db
