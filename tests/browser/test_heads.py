"""Every head by its numbers, in a browser without Streamlit."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorer_pages import random_source
from tests.browser.views import open_lab

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def test_a_thousand_heads_are_ranked_and_sorted(page: Page, explore) -> None:
    source = random_source(32, 33, 5)
    view = explore(source, layer=20, head=7)
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
