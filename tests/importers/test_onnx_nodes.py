"""The ONNX project's node tests: a sample and, slowly, all of them, on board host."""

from __future__ import annotations

import sys

import pytest

from compiler.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import onnx_node_tests as script

FOLDERS = sorted(script.data_folder().glob("test_*"))


def _check(outcomes: list[script.Outcome], least: float) -> None:
    wrong = [f"{o.name}: {o.detail}" for o in outcomes if o.verdict == "failed"]
    assert not wrong, "\n".join(wrong)
    assert script.pass_rate(outcomes) >= least
    assert all(len(o.detail) > 10 for o in outcomes if o.verdict == "refused")


def test_a_sample_on_the_host() -> None:
    assert len(FOLDERS) > 1600
    _check(script.evaluate(FOLDERS[3::27], simulate=False), least=0.8)


@pytest.mark.slow
def test_all_on_the_host() -> None:
    """At least nine of ten, no wrong answer, no crash."""
    _check(script.evaluate_all(FOLDERS, simulate=False, jobs=2), least=0.9)


def test_all_are_read_or_refused() -> None:
    """In the simulator, which shows a wrong reading as well and takes seconds."""
    _check(script.evaluate_all(FOLDERS, simulate=True, jobs=2), least=0.85)
