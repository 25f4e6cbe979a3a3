"""The form Text and the reading aids, in a browser without Streamlit."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorer_pages import random_source
from tests.browser.test_explorer import ODD
from tests.browser.test_lines import Lines
from tests.browser.views import Server

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


@pytest.fixture
def draw(page: Page, server: Server) -> Callable[..., Lines]:
    def opened(source, **start) -> Lines:
        page.set_viewport_size({"width": 1280, "height": 900})
        lines = Lines(page, server, source, {"start": start})
        lines.is_painted()
        return lines

    return opened


def test_every_copy_of_the_text_reads_its_own_exact_number(draw):
    source = random_source(3, 4, len(ODD), labels=ODD, special=[0, len(ODD) - 1])
    shown = draw(source, form="text", layer=1, head=2, shown="0.2", layers="0.2")
    page = shown.page
    copies = page.locator(".hs-copy")
    expect(copies).to_have_count(4)
    assert page.locator(".hs-copies script, .hs-copies img").count() == 0
    assert page.evaluate("window.bad === undefined")
    copies.first.locator("[data-index='4']").click()
    page.wait_for_url(re.compile("token=4"))
    copies.nth(3).locator("[data-index='7']").hover()
    places = [(0, 0), (0, 2), (2, 0), (2, 2)]
    for copy, (layer, head) in zip(copies.all(), places, strict=True):
        expect(copy.locator(".hs-copy-title")).to_have_text(f"layer {layer} · head {head}")
        number = f"(7) {source.array[layer, head, 4, 7]:.5f}"
        expect(copy.locator(".hs-copy-number")).to_contain_text(number)
    page.keyboard.press("Escape")
    expect(page.locator("[aria-checked='true']")).to_have_count(0)
    page.get_by_role("button", name="Average").click()
    copies.first.locator("[data-index='7']").hover()
    mean = source.array[2, 2, :, 7].mean(dtype=np.float64)
    expect(copies.nth(3).locator(".hs-copy-number")).to_contain_text(f"(7) {mean:.5f}")


def test_brushed_tokens_alone_are_drawn_and_what_they_hide_is_told(draw):
    source = random_source(1, 2, 12)
    lines = draw(source, form="lines", head=1)
    lines.token("query", 3).drag_to(lines.token("query", 6))
    lines.page.wait_for_url(re.compile("rows=3-7"))
    expect(lines.left.locator("[role=option]")).to_have_count(4)
    lines.token("key", 2).click()
    lines.token("key", 8).click(modifiers=["Shift"])
    lines.page.wait_for_url(re.compile("columns=2-9"))
    whole = source.array[0, 1, 3:7].astype(np.float64)
    drawn = np.where(whole >= 0.01, whole, 0)[:, 2:9].sum()
    hidden = 100 * (1 - drawn / whole.sum())
    expect(lines.page.locator(".hs-hidden-share")).to_contain_text(f"{hidden:.0f} %")
    lines.page.keyboard.press("Escape")  # lets go of the token,
    lines.page.keyboard.press("Escape")  # then of what was brushed
    expect(lines.left.locator("[role=option]")).to_have_count(12)
    lines.page.wait_for_url(re.compile("^(?!.*rows=)"))


def test_a_search_goes_from_match_to_match_and_a_threshold_hides(draw):
    labels = [f"w{i}" for i in range(300)]
    labels[40] = labels[250] = "Needle"
    lines = draw(random_source(1, 1, 300, labels=labels), form="lines")
    box = lines.page.get_by_role("searchbox", name="Find a token")
    box.fill("needle")
    for index in (40, 250, 40):
        box.press("Enter")
        expect(lines.token("query", index)).to_be_in_viewport()
        expect(lines.token("query", index)).to_have_class(re.compile("hs-match"))
    expect(lines.page.locator(".hs-count").first).to_have_text("1 of 2")
    slider = lines.page.get_by_role("slider", name="Hide weights below")
    slider.press("End")
    expect(lines.page.locator(".hs-hidden-share")).to_have_text("100 % of the weight is hidden")
    lines.page.wait_for_url(re.compile("least=1.*find=needle"))
