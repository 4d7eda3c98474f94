"""Which target a board that is this machine gets."""

from __future__ import annotations

import platform
from dataclasses import replace

import pytest

from compiler import processor
from compiler.board import load_board
from compiler.target import load_target


def test_a_target_runs_where_its_features_are(monkeypatch: pytest.MonkeyPatch) -> None:
    target = replace(load_target("reference"), features=("one", "two"))
    monkeypatch.setattr(processor, "processor_features", lambda: frozenset({"one"}))
    assert not processor.runs_here(target)
    monkeypatch.setattr(processor, "processor_features", lambda: frozenset({"one", "two", "three"}))
    assert processor.runs_here(target)


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"}, "x86_avx512vnni"),
        ({"avx2", "fma", "avx512f"}, "x86_avx"),
        ({"sse2"}, "reference"),
    ],
)
def test_the_host_has_the_best_target_that_it_can_run(
    monkeypatch: pytest.MonkeyPatch, features: set[str], expected: str
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(processor, "processor_features", lambda: frozenset(features))
    assert load_board("host").target == expected
