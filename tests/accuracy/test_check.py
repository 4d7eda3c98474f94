"""``check`` from end to end: versions, labels, metrics, workers, the board, plots."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import compiler
from compiler import BuildOptions
from compiler.cli.main import run
from compiler.errors import ToolError, UsageError
from compiler.report.accuracy_plot import write_plot
from compiler.sample import sample_calibration

INT8 = BuildOptions(quantize="int8", calibration=sample_calibration())


def labelled(folder: Path, **changes: np.ndarray) -> Path:
    """The sample's inputs, with what its float version says as labels."""
    with np.load(sample_calibration()) as archive:
        image = archive["image"]
    found = compiler.simulate(None, {"image": image[:, None]})
    (scores,) = (value for name, value in found.outputs.items() if not name.endswith(".float"))
    labels = scores.reshape(len(image), -1).argmax(axis=1)
    path = folder / "data.npz"
    np.savez(path, **({"image": image, "labels": labels} | changes))
    return path


def test_a_classifier_by_its_labels(tmp_path: Path) -> None:
    found = compiler.check(None, board="rpi4", data=labelled(tmp_path), options=INT8).to_json()
    assert found["samples"] == 32
    assert (found["metric"], found["float"], found["board"]) == ("top1", 1.0, None)
    assert found["quantized"] >= 0.96
    assert found["metrics"]["top5"]["float"] == 1.0
    assert found["run_by"] == "compiled"
    names = [layer["name"] for layer in found["layers"]]
    assert "logits" in names
    assert all(15 < layer["sqnr_db"] <= 200 for layer in found["layers"])


def test_wrong_labels_show(tmp_path: Path) -> None:
    data = labelled(tmp_path, labels=np.full(32, 3))
    found = compiler.check(None, board="rpi4", data=data, options=INT8).to_json()
    assert found["float"] < 0.5


def test_workers_change_nothing(tmp_path: Path) -> None:
    data = labelled(tmp_path)
    alone = compiler.check(None, board="rpi4", data=data, options=INT8).to_json()
    shared = compiler.check(None, board="rpi4", data=data, options=INT8, workers=2).to_json()
    assert alone == shared


def test_dask_changes_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    data = labelled(tmp_path)
    alone = compiler.check(None, board="rpi4", data=data, options=INT8).to_json()
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        shared = compiler.check(
            None, board="rpi4", data=data, options=INT8, dask=cluster.scheduler_address
        ).to_json()
    assert alone == shared


def test_a_dask_scheduler_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("compiler.accuracy.evaluate._DASK_SECONDS", 1)
    with pytest.raises(ToolError, match="no scheduler answers"):
        compiler.check(
            None, board="rpi4", data=labelled(tmp_path), options=INT8, dask="tcp://127.0.0.1:9"
        )


def test_without_calibration_an_eighth_is_held_out(tmp_path: Path) -> None:
    options = BuildOptions(quantize="int8", calibration=None)
    model = Path(compiler.__file__).parent / "samples" / "digits.onnx"
    data = labelled(tmp_path)
    found = compiler.check(model, board="rpi4", data=data, options=options).to_json()
    assert (found["samples"], found["calibrated_on"]) == (28, 4)


def test_a_metric_of_the_user_s_own(tmp_path: Path) -> None:
    metric = tmp_path / "mine.py"
    metric.write_text("def largest(outputs, labels):\n    return outputs['digit'].max()\n")
    data = labelled(tmp_path)
    found = compiler.check(
        None, board="rpi4", data=data, options=INT8, metric=f"{metric}:largest"
    ).to_json()
    assert found["metric"] == "largest"
    assert found["float"] == pytest.approx(found["quantized"], rel=0.05) and found["float"] > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [("f.py", "file.py:function"), ("{}:missing", "no function 'missing'"),
     ("{}:broken", "KeyError")],
)  # fmt: skip
def test_a_bad_metric_is_explained(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def broken(outputs, labels):\n    return outputs['no such output']\n")
    with pytest.raises(UsageError, match=said):
        compiler.check(
            None, board="rpi4", data=labelled(tmp_path), options=INT8, metric=text.format(file)
        )


def test_the_board_s_outputs_are_this_machine_s(tmp_path: Path) -> None:
    found = compiler.check(
        None, board="host", data=labelled(tmp_path), options=INT8, on_board=True, limit=6,
        out=tmp_path / "build",
    ).to_json()  # fmt: skip
    assert found["samples"] == 6
    assert found["board_equals_simulator"] is True
    assert found["board"] == found["quantized"]


def test_pictures_named_by_class(tmp_path: Path) -> None:
    for name in ("003_three.png", "3/a.png", "004_four.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        Image.new("L", (28, 28), 100).save(path)
    found = compiler.check(None, board="rpi4", data=tmp_path, options=INT8).to_json()
    assert found["samples"] == 3
    share = found["metrics"]["top1"]["float"]
    assert share in (0.0, pytest.approx(1 / 3), pytest.approx(2 / 3))  # all three look the same


Command = Callable[[list[str]], int]


def test_the_command_prints_the_contract_s_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "layers.svg"
    arguments = ["check", "--board", "rpi4", "--data", str(labelled(tmp_path)), "--json"]
    arguments += ["--quantize", "int8", "--calibration", str(sample_calibration())]
    assert run([*arguments, "--plot", str(plot)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"samples", "metric", "float", "quantized", "board", "layers"} <= set(found)
    assert set(found["layers"][0]) >= {"name", "sqnr_db"}
    texts = [element.text for element in ElementTree.parse(plot).iter() if element.text]
    assert any("logits" in text for text in texts)


def test_the_command_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "--board", "rpi4", "--data", str(labelled(tmp_path)), "-v"]
    arguments += ["--quantize", "int8", "--calibration", str(sample_calibration())]
    assert run(arguments) == 0
    shown = capsys.readouterr().out
    for text in ("top-1", "100.00 %", "same best class", "logits", "dB"):
        assert text in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--plot", "layers.pdf"], "end it in"),
        (["--workers", "0"], "give 1 or more"),
        (["--labels", "nowhere"], "neither a key"),
        (["--metric", "nowhere.py:f"], "file.py:function"),
    ],
)
def test_bad_usage_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    data = str(labelled(tmp_path))
    status = run(["check", "--board", "rpi4", "--data", data, *arguments])
    assert status == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".png", ".html"])
def test_other_plots(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plot{suffix}"
    found = compiler.check(
        None, board="rpi4", data=labelled(tmp_path), options=INT8, limit=4
    ).to_json()
    write_plot(path, found)
    if suffix == ".png":
        with Image.open(path) as picture:
            assert picture.size[0] == 900
            assert len(picture.getcolors(1 << 16) or ()) > 3
    else:
        assert "<svg" in path.read_text()
