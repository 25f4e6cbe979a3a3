"""The architecture diagram in a browser, without Streamlit."""

import copy
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.views import Server
from viz.architecture import base

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

SOURCES = [{"file": "models/blocks.py", "line": 12, "code": "def f(x):\n    return x < 3"}]


def part(name: str, **change: Any) -> dict[str, Any]:
    axes = [["tokens", 16], ["dim", 64]]
    return {
        "name": name,
        "title": name.capitalize(),
        "kind": "layer",
        "takes": axes,
        "gives": axes,
        "context": [],
        "parameters": 100,
        "flops": 200,
        "times": 1,
        "skips": "",
        "causal": False,
        "heading": f"{name} & <b>more</b>",
        "sentence": f"What {name} does.",
        "rows": [["In", "16 tokens × 64 dim"], ["Formula", "x + f(x)"]],
        "source": 0,
        "parts": [],
    } | change


PARTS = [
    part("embed"),
    part(
        "blocks",
        times=12,
        parts=[
            part(
                "attention",
                parts=[
                    *(part(name, kind="projection") for name in ("query", "key", "value")),
                    part("attend", kind="attend", takes=[["heads", 4], ["tokens", 16]]),
                ],
            ),
            part("feed_forward"),
        ],
    ),
    part("head"),
]


@pytest.fixture
def diagram(page: Page, server: Server) -> Page:
    server.props = {
        "kind": "architecture",
        "defaults": {"part": "blocks/attention/attend"},
        "base": base(PARTS, SOURCES, title="A network"),
        "panel": True,
    }
    page.goto(server.url)
    expect(page.locator(".headscope[data-painted]")).to_have_count(1)
    return page


def chosen(page: Page, path: str) -> None:
    expect(page.locator(f".headscope[data-select='{path}']")).to_have_count(1)
    expect(page.locator(f"[data-id='{path}']")).to_have_attribute("aria-selected", "true")


def test_the_chosen_part_is_told_about_beside_the_diagram(diagram):
    chosen(diagram, "blocks/attention/attend")
    panel = diagram.locator(".hs-part-panel")
    expect(panel.get_by_role("heading")).to_have_text("attend & <b>more</b>")
    diagram.locator("[data-id='blocks/feed_forward'] > rect").first.click()
    chosen(diagram, "blocks/feed_forward")
    expect(panel).to_contain_text("What feed_forward does.")
    expect(panel.locator("th")).to_have_text(["In", "Formula"])
    expect(panel.locator("summary")).to_have_text("What runs: models/blocks.py, line 12")
    expect(panel.locator("pre")).to_have_text(SOURCES[0]["code"])
    assert diagram.evaluate("headscope.events") == []


def test_keys_walk_through_the_parts_open_and_close_them(diagram):
    diagram.locator("[data-id='embed']").focus()
    for key, path in [
        *[("ArrowDown", "blocks"), ("ArrowRight", "blocks/attention")],
        *[("End", "head"), ("Home", "embed"), ("ArrowDown", "blocks")],
    ]:
        diagram.keyboard.press(key)
        expect(diagram.locator(f"[data-id='{path}']")).to_be_focused()
    diagram.keyboard.press("Enter")
    chosen(diagram, "blocks")
    diagram.keyboard.press("ArrowLeft")
    expect(diagram.locator("[data-id='blocks']")).to_have_attribute("aria-expanded", "false")
    expect(diagram.locator("[data-id='blocks/attention']")).to_have_count(0)
    expect(diagram.locator("[data-id='blocks']")).to_be_focused()
    diagram.keyboard.press("ArrowRight")
    expect(diagram.locator("[data-id='blocks/attention']")).to_have_count(1)


def test_a_new_network_keeps_the_part_and_a_new_revision_chooses_one(diagram):
    diagram.locator("[data-id='blocks/feed_forward'] > rect").first.click()
    chosen(diagram, "blocks/feed_forward")
    other = copy.deepcopy(PARTS)
    other[0]["gives"] = [["tokens", 16], ["dim", 128]]
    diagram.evaluate("headscope.update", {"base": base(other, SOURCES), "busy": True})
    expect(diagram.locator("svg.stale")).to_have_count(1)
    chosen(diagram, "blocks/feed_forward")
    expect(diagram.get_by_text("16 tokens × 128 dim", exact=True)).to_be_visible()
    diagram.evaluate("headscope.update", {"revision": "n.2", "start": {"part": "head"}})
    chosen(diagram, "head")
    diagram.evaluate("headscope.update", {"revision": "n.3", "start": {"part": "nowhere"}})
    chosen(diagram, "blocks/attention/attend")
