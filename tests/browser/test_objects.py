"""A detector's objects over its picture, in a browser without Streamlit."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorer_pages import Traced, open_text
from tests.browser.views import SIZES, Server
from tests.viz.api.test_objects import entry_of, save

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def detected(name: str, folder: Path) -> Traced:
    """A tiny detector's trace of a photo."""
    save(name, folder)
    return Traced(entry_of(folder))


def opened(page: Page, server: Server, source: Traced, size: str, **start: Any) -> Any:
    open_text(page, server, source, size, **start)
    return page.locator(".hs-pictures")


@pytest.mark.parametrize("size", SIZES)
def test_a_box_chooses_its_query_and_shows_where_it_looks(
    page: Page, server: Server, tmp_path: Path, size: str
) -> None:
    start = {"layer": 1, "head": 1, "attention": "cross", "tower": "decoder"}
    panel = opened(page, server, detected("detr", tmp_path), size, **start)
    chips = panel.get_by_role("radiogroup", name="Objects").get_by_role("radio")
    expect(chips).to_have_count(5)
    chips.nth(1).click()
    expect(chips.nth(1)).to_have_attribute("aria-checked", "true")
    view = page.locator(".headscope")
    expect(view).to_have_attribute("data-site", "4")
    query = re.sub(r"\D", "", chips.nth(1).get_attribute("title") or "")
    expect(view).to_have_attribute("data-token", query)
    expect(panel.locator(".hs-sentence")).to_contain_text("where the query that says")
    captions = panel.locator("figcaption")
    expect(captions).to_have_text(re.compile(r"15 tokens \(3 × 5\) · .*colours up to 0\."))


def test_the_points_of_a_deformable_block_are_drawn(
    page: Page, server: Server, tmp_path: Path
) -> None:
    panel = opened(page, server, detected("deformable", tmp_path), "wide", layer=1, head=0)
    panel.get_by_role("radiogroup", name="Objects").get_by_role("radio").first.click()
    expect(panel.locator("figcaption")).to_contain_text("16 sampling points")
    expect(panel.locator(".hs-sentence")).to_contain_text("a softmax over these points")


def test_a_cell_is_chosen_on_the_picture_and_by_arrow_keys(
    page: Page, server: Server, tmp_path: Path
) -> None:
    start = {"layer": 0, "head": 0, "token": 300}
    panel = opened(page, server, detected("segformer", tmp_path), "wide", **start)
    says = panel.locator(".hs-sentence")
    expect(says).to_contain_text("where “cell 7,20” looks")
    canvas = panel.locator(".hs-face")
    canvas.press("ArrowRight")
    expect(says).to_contain_text("where “cell 7,21” looks")
    box = canvas.bounding_box()
    assert box is not None
    canvas.click(position={"x": box["width"] - 3, "y": 3})
    expect(says).to_contain_text("where “cell 0,39” looks")
