"""The page stands alone, is well-formed, and draws each buffer where it lies."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from compiler.report.html import inspect_page
from compiler.report.map_svg import HEIGHT, LEFT, TOP, draw_memory, nice_steps
from tests.report.examples import build_json, model_facts

VOID = {"meta", "br", "line"}


class Checker(HTMLParser):
    """Collects text; fails on a tag that does not close the one opened last."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return checker


@pytest.mark.parametrize("facts", [build_json(), model_facts()], ids=["build", "model"])
def test_page_is_well_formed_and_needs_no_network(facts: dict[str, object]) -> None:
    page = inspect_page(facts)
    parsed(page)
    assert not re.search(r"""(src|href)=["'](?!#)|@import|url\(""", page)
    assert page == inspect_page(facts)


def test_build_page_shows_memory_steps_and_details() -> None:
    checker = parsed(inspect_page(build_json()))
    assert "svg" in checker.tags and "script" in checker.tags
    for text in ("448 B", "at the lower bound", "net/first[1]", "any_int8__reference", "tool gcc",
                 "scale 0.5, zero point -3", "blob 2.9 KiB"):  # fmt: skip
        assert text in checker.text


def test_model_page_has_no_map_and_escapes_names() -> None:
    page = inspect_page(model_facts())
    checker = parsed(page)
    assert "svg" not in checker.tags and "<b>net</b> & co" in checker.text
    assert "&lt;b&gt;net" in page


def test_a_build_without_memory_or_firmware_still_has_a_page() -> None:
    build = build_json()
    for key in ("memory", "flash_bytes", "tools"):
        del build[key]
    assert "svg" not in parsed(inspect_page(build)).tags


def test_boxes_lie_where_the_plan_says() -> None:
    build = build_json()
    drawing = draw_memory(build["memory"], ["conv2d", "fully_connected"], 448, 448)
    for buffer, box in zip(build["memory"]["buffers"], drawing.boxes, strict=True):
        assert box.x == pytest.approx(LEFT + (buffer["first"] + 1) * drawing.column)
        assert box.width == pytest.approx((buffer["last"] - buffer["first"] + 1) * drawing.column)
        bottom = box.y + box.height
        assert bottom == pytest.approx(TOP + HEIGHT - buffer["offset"] * HEIGHT / 448)
        assert box.y >= TOP - 1e-6 and bottom <= TOP + HEIGHT + 1e-6
    held = next(box.title for box in drawing.boxes if box.label == "a")
    assert "flat int8 1x256" in held and "step 0 (conv2d)" in held
    assert [line.kind for line in drawing.lines] == ["arena"]


def test_the_bound_is_drawn_where_it_was_missed() -> None:
    drawing = draw_memory(build_json()["memory"], ["conv2d", "fully_connected"], 500, 448)
    assert [line.kind for line in drawing.lines] == ["arena", "bound"]


@pytest.mark.parametrize("limit", [0, 1, 7, 448, 51456, 3_000_000])
def test_ticks_are_few_and_inside(limit: int) -> None:
    ticks = nice_steps(limit)
    assert len(ticks) <= 9 and all(0 <= tick <= limit for tick in ticks)
