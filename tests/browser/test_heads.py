"""Every head by its numbers, in a browser without Streamlit: dots, table."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorer_pages import Source, open_text, random_source
from tests.browser.views import SIZES, Server, View, open_lab

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def opened(page: Page, server: Server, source: Source, size: str, **start: Any) -> View:
    own = {"plot": "", "rank": ""}
    return open_text(page, server, source, size, start, **own)


def test_dots_are_read_and_choose_their_head(page: Page, server: Server) -> None:
    source = random_source(2, 3, 7)
    view = opened(page, server, source, "phone", layer=1, head=2)
    open_lab(page, "Numbers")
    read, chosen = page.locator(".hs-dots-view .hs-read"), page.locator(".hs-dot-chosen")
    page.get_by_label("Number along x").select_option("Previous token")
    page.get_by_label("Number along y").select_option("First token")
    page.wait_for_url(re.compile(r"plot=previous(\+|%20)token\.first"))
    chosen.hover()
    shares = source.array.diagonal(-1, 2, 3).mean(-1)
    expect(read).to_contain_text(f"layer 1 · head 2 · Previous token: {shares[1, 2]:.4f}")
    boxes = [box.bounding_box() for box in page.locator(".hs-dot").all()]
    places = [box["x"] + box["width"] / 2 for box in boxes if box]
    # the order along the axis is that of the numbers; the chosen dot is painted last
    numbers = [*np.delete(shares.ravel(), 5), shares[1, 2]]
    assert np.argsort(places).tolist() == np.argsort(numbers).tolist()
    page.locator(".hs-dot").first.click()
    view.shows(0, 0)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]


def test_a_thousand_heads_are_ranked_and_sorted(page: Page, server: Server) -> None:
    source = random_source(32, 33, 5)
    view = opened(page, server, source, "wide", layer=20, head=7)
    open_lab(page, "Numbers")
    expect(page.locator("tr[aria-selected=true]")).to_be_in_viewport()
    expect(page.locator("tr[aria-selected=true] th")).to_have_text("20 · 7")
    shares = source.array.diagonal(-1, 2, 3).mean(-1)
    page.get_by_role("button", name="Previous token").click()
    expect(page.locator("[aria-sort=descending]")).to_have_text("Previous token")
    page.locator(".hs-table-scroller").press("Home")
    view.shows(*divmod(int(shares.argmax()), 33))
    page.locator(".hs-table-scroller").press("End")
    view.shows(*divmod(int(shares.argmin()), 33))
    page.get_by_role("button", name="Induction", exact=True).click()
    undefined = "Induction is not defined for any head here: no token occurs twice."
    expect(page.get_by_text(undefined)).to_be_visible()
