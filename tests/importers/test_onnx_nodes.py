"""The ONNX project's node tests: a sample and, slowly, all of them, on board host."""

from __future__ import annotations

from pathlib import Path

import onnx_node_tests as script
import pytest
import zoo


@pytest.fixture(scope="module")
def folders() -> list[Path]:
    """Every node test; skips where they cannot be fetched (offline)."""
    try:
        found = sorted(script.data_folder().glob("test_*"))
    except zoo.ZooError as error:
        pytest.skip(str(error))
    assert len(found) > 1600
    return found


def _check(outcomes: list[script.Outcome], least: float) -> None:
    wrong = [f"{o.name}: {o.detail}" for o in outcomes if o.verdict == "failed"]
    assert not wrong, "\n".join(wrong)
    assert script.pass_rate(outcomes) >= least
    assert all(len(o.detail) > 10 for o in outcomes if o.verdict == "refused")


def test_a_sample_on_the_host(folders: list[Path]) -> None:
    _check(script.evaluate(folders[3::27], simulate=False), least=0.8)


@pytest.mark.slow
def test_all_on_the_host(folders: list[Path]) -> None:
    """At least nine of ten, no wrong answer, no crash."""
    _check(script.evaluate_all(folders, simulate=False, jobs=2), least=0.9)


def test_all_are_read_or_refused(folders: list[Path]) -> None:
    """In the simulator, which shows a wrong reading as well and takes seconds."""
    _check(script.evaluate_all(folders, simulate=True, jobs=2), least=0.92)
