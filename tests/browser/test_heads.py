"""Every head by its numbers, in a browser without Streamlit: scatter, table, finder, sentence."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.explorer_pages import Source, open_text, random_source
from tests.browser.views import SIZES, Server, View

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def opened(page: Page, server: Server, source: Source, size: str, **start: Any) -> View:
    own = {"overview": "atlas", "plot": "", "rank": "", "arrangement": "layers", "conditions": ""}
    return open_text(page, server, source, size, start, **own)


def test_dots_are_read_and_chosen_by_pointer_and_by_keyboard(page: Page, server: Server) -> None:
    source = random_source(2, 3, 7)
    view = opened(page, server, source, "phone", overview="scatter", layer=1, head=2)
    read, plot = page.locator(".hs-scatter .hs-read"), page.locator(".hs-scatter .hs-plot-canvas")
    chosen = page.locator(".hs-ring-chosen")
    expect(chosen).to_be_visible()
    place, box = chosen.bounding_box(), plot.bounding_box()
    assert place
    assert box
    middle = [place[a] + place[b] / 2 - box[a] for a, b in (("x", "width"), ("y", "height"))]
    plot.hover(position={"x": middle[0], "y": middle[1]})
    expect(read).to_contain_text("layer 1 · head 2")
    share = source.array[1, 2].diagonal(-1).mean()
    expect(read).to_contain_text(f"Previous token: {share:.4f}")
    page.locator(".hs-axes select").nth(2).select_option("Induction")
    expect(page.locator(".hs-scatter .hs-doubt").first).to_contain_text("no token occurs twice")
    page.wait_for_url(re.compile("plot="))
    plot.focus()
    leftmost = share == source.array.diagonal(-1, 2, 3).mean(-1).min()
    page.keyboard.press("ArrowRight" if leftmost else "ArrowLeft")
    expect(read).not_to_contain_text("layer 1 · head 2")
    expect(read).to_contain_text("layer")
    name = re.search(r"layer (\d) · head (\d)", read.inner_text())
    assert name
    page.keyboard.press("Enter")
    view.shows(int(name[1]), int(name[2]))
    sentence = f"Head {name[2]} here: {source.numbers()['sentences'][int(name[1])][int(name[2])]}"
    expect(page.locator(".hs-head-sentence span")).to_have_text(sentence)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]


def test_a_thousand_heads_are_ranked_sorted_and_filtered(page: Page, server: Server) -> None:
    source = random_source(32, 33, 5)
    view = opened(page, server, source, "wide", overview="table", layer=20, head=7)
    rows = page.locator(".hs-heads-table tbody tr")
    expect(page.locator("tr[aria-selected=true]")).to_be_in_viewport()
    expect(page.locator("tr[aria-selected=true] th")).to_have_text("20 · 7")
    assert rows.count() < 100
    shares = source.array.diagonal(-1, 2, 3).mean(-1)
    best = divmod(int(shares.argmax()), 33)
    page.get_by_role("button", name="Previous token").click()
    expect(page.locator("[aria-sort=descending]")).to_have_text("Previous token")
    page.locator(".hs-table-scroller").press("Home")
    view.shows(*best)
    page.get_by_role("textbox", name="Filter by Previous token").fill("> 0.4")
    count = int((shares > 0.4).sum())
    expect(page.locator(".hs-filtered")).to_contain_text(f"{count} of 1056 heads")
    page.wait_for_url(re.compile("conditions=previous"))
    page.get_by_role("button", name="Each head as a small picture").click()
    page.get_by_text("Sort and filter", exact=True).click()
    expect(page.locator(".hs-sorting .hs-filter")).to_have_value("> 0.4")
    page.get_by_label("Sort the thumbnails by").select_option("Previous token")
    page.wait_for_url(re.compile("arrangement=rank"))
    expect(page.locator(".hs-thumbs")).to_have_attribute(
        "aria-label", re.compile(f"{count} of 1056")
    )
    page.locator(".hs-scroller:visible").press("End")
    least = np.where(shares > 0.4, shares, 1).argmin()
    view.shows(*divmod(int(least), 33))
    expect(page.locator(".hs-frame.hs-chosen")).to_be_in_viewport(ratio=1)
    page.locator(".hs-scroller:visible").press("Home")
    view.shows(*best)
    page.locator(".hs-finder summary").click()
    first = page.locator(".hs-finder-row").first
    expect(first).to_have_text(f"layer {best[0]} · head {best[1]}{shares.max():.4f}")
    expect(first).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Sort the thumbnails by").select_option("Induction")
    undefined = "Not sorted: Induction is not defined for any head here: no token occurs twice."
    expect(page.get_by_text(undefined)).to_be_visible()


def test_rows_of_a_larger_network_are_read_until_the_numbers_of_the_next_have_come(
    page: Page, server: Server
) -> None:
    view = opened(page, server, random_source(32, 33, 5), "wide", overview="table")
    rows, scroller = page.locator(".hs-heads-table tbody tr"), page.locator(".hs-table-scroller")
    expect(rows.first.locator("th")).to_have_text("0 · 0")
    server.sources["t2"] = random_source(2, 3, 5, trace="t2")
    server.hold("numbers")
    view.update(trace="t2")
    expect(view.root).to_have_attribute("data-trace", "t2")
    expect(scroller).to_have_class(re.compile("hs-dim"))
    scroller.evaluate("box => { box.scrollTop = box.scrollHeight; }")
    expect(rows.last.locator("th")).to_have_text("31 · 32")
    rows.last.click()
    view.shows(1, 2)  # the nearest that there is
    server.release()
    expect(rows).to_have_count(6)
