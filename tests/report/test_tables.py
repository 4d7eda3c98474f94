"""Tables say what the JSON says, take names literally and survive what is absent."""

from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console, RenderableType

from compiler.report import tables
from compiler.report.units import byte_text, exact_bytes, grouped, shape_text, short
from tests.report.examples import build_json, model_facts, profile_json


def shown(renderable: RenderableType, width: int = 200) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_build_table_tells_arena_bound_and_flash() -> None:
    text = shown(tables.build_table(build_json()))
    assert "448 B, at the lower bound" in text
    assert "4,200 B (4.1 KiB): text 1,000, rodata 200, blob 3,000" in text
    assert "net/first[1]" not in text


def test_verbose_build_table_has_steps_and_the_map() -> None:
    text = shown(tables.build_table(build_json(), verbose=True))
    assert "net/first[1]" in text  # not taken for markup
    assert "18,432" in text and "█ scratch" in text


def test_an_arena_above_the_bound_says_by_how_much() -> None:
    build = build_json() | {"arena_bytes": 896}
    assert "2.000 x the lower bound of 448 B" in shown(tables.build_table(build))
    assert "proven to be the least" in shown(tables.build_table(build))


def test_build_table_does_without_a_firmware() -> None:
    build = build_json()
    for key in ("flash_bytes", "board", "memory"):
        del build[key]
    assert "flash" not in shown(tables.build_table(build, verbose=True))


def test_inspect_table_of_a_model_and_of_a_build() -> None:
    text = shown(tables.inspect_table(model_facts()))
    assert "<b>net</b> & co" in text and "net/last" in text
    assert "any_int8__reference" in shown(tables.inspect_table(build_json()))


def test_profile_table_gives_shares_and_rates() -> None:
    text = shown(tables.profile_table(profile_json()))
    first = next(line for line in text.splitlines() if "net/first" in line)
    assert "30,000" in first and "75.0 %" in first and "0.61" in first
    assert "40,500 cycles, median of 10 (40,000 to 41,000)" in text
    assert "stack" not in text  # the board does not know it


def test_profile_of_steps_that_take_no_time() -> None:
    profile = profile_json()
    for step in profile["steps"]:
        step["median"] = 0.0
    assert "0.0 %" in shown(tables.profile_table(profile))


def test_support_tables() -> None:
    rows = [
        {
            "operator": "add",
            "class": "broadcast",
            "targets": {"reference": ["float32", "int8", "uint8"]},
        },
        {"operator": "erf", "class": "elementwise", "targets": {}},
    ]
    text = shown(tables.ops_table(rows))
    assert "reference" in text and "i8 u8 f32" in text and "erf" in text
    board = {"name": "rpi4", "chip": "bcm2711", "target": "arm_neon", "description": "[x]"}
    text = shown(tables.boards_table([board | {"runners": ["ssh", "qemu"]}]))
    assert "ssh, qemu" in text and "[x]" in text
    target = {"name": "arm_neon", "chain": ["arm_neon", "reference"], "kernels": 7}
    text = shown(tables.targets_table([target | {"description": "AArch64"}]))
    assert "arm_neon → reference" in text and " 7 " in text


def test_outputs_in_short() -> None:
    outputs = {"y": np.array([[-3, 7]], np.int8), "y.float": np.array([[-0.5, 1.25]], np.float32)}
    text = shown(tables.outputs_table(outputs, None))
    assert "-3 7" in text and "-0.5 1.25" in text and "1x2" in text
    assert "0x4" in shown(tables.outputs_table({"none": np.zeros((0, 4), np.float32)}, None))


def test_top_classes_prefer_dequantized_scores_and_keep_ties_in_order() -> None:
    outputs = {
        "out": np.array([[1, 9, 9, 0]], np.int8),
        "out.float": np.array([[0.1, 0.9, 0.9, 0.0]], np.float32),
    }
    best = tables.top_classes(outputs, build_json(), count=3)
    assert [(row["index"], row["label"]) for row in best] == [(1, "dog"), (2, ""), (0, "cat")]
    assert best[0]["score"] == pytest.approx(0.9)
    assert tables.top_classes({"out": outputs["out"]}, build_json())[0]["score"] == 9
    text = shown(tables.outputs_table(outputs, best))
    assert "dog" in text and "0.9000" in text


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (grouped(1234567), "1,234,567"), (grouped(2.5), "2.5"), (short(999), "999"),
        (short(12345), "12.3 k"), (short(12_500_000), "12.5 M"), (short(4.26e9), "4.26 G"),
        (byte_text(1023), "1023 B"), (byte_text(49152), "48.0 KiB"),
        (byte_text(3 << 20), "3.00 MiB"), (exact_bytes(2048), "2,048 B (2.0 KiB)"),
        (shape_text([1, 2]), "1x2"), (shape_text([]), "scalar"),
    ],
)  # fmt: skip
def test_units(made: str, text: str) -> None:
    assert made == text


def test_columns_without_a_number_are_left_out() -> None:
    steps = build_json()["steps"]
    assert "scratch" in shown(tables.steps_table(steps))
    without = [step | {"scratch_bytes": 0} for step in steps]
    assert "scratch" not in shown(tables.steps_table(without))
