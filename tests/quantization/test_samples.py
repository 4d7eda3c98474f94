"""Calibration data: series, pictures, chance; and the command's view of it all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from compiler.errors import UsageError
from compiler.importers import read_model
from compiler.loading import load_builtins
from compiler.options import BuildOptions
from compiler.passes import CANONICAL, run_passes
from compiler.quantization import CalibrationWarning, load_samples, quantize_graph
from compiler.quantization.samples import PICTURE_LIMIT
from compiler.sample import sample_calibration, sample_model
from compiler.simulator import Simulator

load_builtins()


def sample_graph():  # type: ignore[no-untyped-def]
    return run_passes(read_model(sample_model()), CANONICAL)


def test_a_series() -> None:
    graph = sample_graph()
    samples = load_samples(graph, sample_calibration())
    assert len(samples) > 10
    assert samples[0]["image"].shape == graph.tensors["image"].shape


def test_pictures_take_the_model_s_own_preprocessing(tmp_path: Path) -> None:
    for name, grey in (("b.png", 255), ("a.png", 51), ("notes.txt", 0)):
        if name.endswith("png"):
            Image.new("L", (40, 50), grey).save(tmp_path / name)
        else:
            (tmp_path / name).write_text("not a picture")
    samples = load_samples(sample_graph(), tmp_path)
    assert len(samples) == 2  # by name, so the darker one first
    np.testing.assert_allclose(samples[0]["image"], np.full((1, 1, 28, 28), 0.2), rtol=1e-6)
    np.testing.assert_allclose(list(samples)[1]["image"], np.ones((1, 1, 28, 28)))


def test_a_folder_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without pictures"):
        load_samples(sample_graph(), tmp_path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.npz"):
        load_samples(sample_graph(), tmp_path / "gone.npz")


def test_random_numbers_come_with_a_warning() -> None:
    with pytest.warns(CalibrationWarning, match="--calibration"):
        samples = load_samples(sample_graph(), None)
    assert len(samples) > 1


def test_without_quantization_the_graph_is_untouched() -> None:
    graph = sample_graph()
    assert quantize_graph(graph, BuildOptions()) is graph


@pytest.mark.parametrize("ranges", ["minmax", "percentile", "mse", "kl"])
def test_the_sample_answers_as_in_float(ranges: str) -> None:
    graph = sample_graph()
    options = BuildOptions(quantize="int8", calibration=sample_calibration(), ranges=ranges)
    result = quantize_graph(graph, options)
    before, after = Simulator(graph), Simulator(result)
    (output,) = graph.outputs
    samples = load_samples(graph, sample_calibration())
    same = [
        int(before.run(s)[output].argmax()) == int(after.run(s)[output].argmax()) for s in samples
    ]
    assert np.mean(same) >= 0.98


def test_of_many_pictures_a_spread_is_taken(tmp_path: Path) -> None:
    for index in range(PICTURE_LIMIT + 30):
        Image.new("L", (4, 4), index).save(tmp_path / f"{index:03}.png")
    samples = load_samples(sample_graph(), tmp_path)
    greys = [round(float(sample["image"].max()) * 255) for sample in samples]
    assert len(greys) == PICTURE_LIMIT
    assert greys[0] == 0 and greys[-1] == PICTURE_LIMIT + 29
    assert greys == sorted(set(greys))
