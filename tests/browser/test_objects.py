"""A detector's objects over its picture, in a browser without Streamlit."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_explorer import DEFAULTS, SIZES
from tests.browser.views import Server, View
from tests.viz.api.test_objects import entry_of, save
from viz.api.requests import parse_query
from viz.routes import ENDPOINTS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


class Detected:
    """A tiny detector's trace of a photo, answered for by the app's own API code."""

    trace = "t1"

    def __init__(self, name: str, folder: Path) -> None:
        save(name, folder)
        self.entry = entry_of(folder)

    def answer(self, route: str, query: dict[str, str]) -> Any:
        endpoint = next(e for e in ENDPOINTS if e.name == route and e.applies(self.entry))
        asked = parse_query(list(query.items()), endpoint.required, endpoint.optional)
        return endpoint.answer(self.entry, self.trace, **asked)


def opened(page: Page, server: Server, detected: Detected, size: str, **start: object) -> Any:
    page.set_viewport_size(SIZES[size])  # pyright: ignore[reportArgumentType]
    props = {"kind": "text", "defaults": DEFAULTS, "revision": "r.1", "page": "text"}
    props |= {"start": start, "path": ["/text"], "link": {}}
    View(page, server, detected, props, "/text")
    return page.locator(".hs-pictures")


@pytest.mark.parametrize("size", SIZES)
def test_a_box_chooses_its_query_and_a_second_is_drawn_beside_it(
    page: Page, server: Server, tmp_path: Path, size: str
) -> None:
    start = {"layer": 1, "head": 1, "attention": "cross", "tower": "decoder"}
    panel = opened(page, server, Detected("detr", tmp_path), size, **start)
    chips = panel.get_by_role("radiogroup", name="Objects").get_by_role("radio")
    expect(chips).to_have_count(5)
    chips.nth(1).click()
    expect(chips.nth(1)).to_have_attribute("aria-checked", "true")
    view = page.locator(".headscope")
    expect(view).to_have_attribute("data-site", "4")
    title = chips.nth(1).get_attribute("title") or ""
    query = re.sub(r"\D", "", title)
    row = page.get_by_role("radio", name=f"object query {query}, position {query}")
    expect(row).to_have_attribute("aria-checked", "true")
    expect(panel.locator(".hs-sentence")).to_contain_text("where the query that says")
    captions = panel.locator("figcaption")
    expect(captions).to_have_text(re.compile(r"15 tokens \(3 × 5\) · .*colours up to 0\."))
    panel.get_by_role("button", name="Compare").click()
    chips.nth(3).click()
    expect(captions).to_have_count(2)
    expect(row).to_have_attribute("aria-checked", "true")
    panel.get_by_role("button", name="Compare").click()
    expect(captions).to_have_count(1)


def test_the_points_of_a_deformable_block_are_drawn(
    page: Page, server: Server, tmp_path: Path
) -> None:
    panel = opened(page, server, Detected("deformable", tmp_path), "wide", layer=1, head=0)
    panel.get_by_role("radiogroup", name="Objects").get_by_role("radio").first.click()
    expect(panel.locator("figcaption")).to_contain_text("16 sampling points")
    expect(panel.locator(".hs-sentence")).to_contain_text("a softmax over these points")


def test_a_cell_is_chosen_on_the_picture_and_by_arrow_keys(
    page: Page, server: Server, tmp_path: Path
) -> None:
    start = {"layer": 0, "head": 0, "token": 300}
    panel = opened(page, server, Detected("segformer", tmp_path), "wide", **start)
    says = panel.locator(".hs-sentence")
    expect(says).to_contain_text("where “cell 7,20” looks")
    canvas = panel.locator("canvas")
    canvas.press("ArrowRight")
    expect(says).to_contain_text("where “cell 7,21” looks")
    box = canvas.bounding_box()
    assert box is not None
    canvas.click(position={"x": box["width"] - 3, "y": 3})
    expect(says).to_contain_text("where “cell 0,39” looks")
