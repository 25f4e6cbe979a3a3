"""Inside a head, in a browser without Streamlit."""

import re

import pytest
from playwright.sync_api import Page, expect

from models.run import load, trace
from tests.browser.explorer_pages import Traced, open_text
from tests.browser.views import SIZES, Server, go_to_head
from viz.api.entries import TraceEntry

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
TEXT = "<img src=x onerror=window.bad=1> the cat 🙂 مرحبا"
SITE, HEAD = 2, 3


def test_a_head_is_read_cell_by_cell_and_down_to_one_weight(page: Page, server: Server) -> None:
    source = Traced(TraceEntry(trace(load("minilm"), TEXT)))
    t = source.entry.trace
    weights, scores = t.weights(SITE, HEAD), t.scores(SITE, HEAD)
    chosen = {"layer": SITE, "head": HEAD, "form": "head", "token": 3, "partner": 5}
    open_text(page, server, source, "phone", **chosen).is_painted()
    inside, read = page.locator(".hs-head"), page.locator(".hs-head .hs-read")
    last = inside.locator(".hs-step-value").last
    expect(last).to_have_text(f"{weights[3, 5]:#.4g}")
    expect(inside.locator(".hs-stage-summary")).to_contain_text(f"({int(weights[3].argmax())})")
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]

    inside.get_by_role("img", name=re.compile("^weights, ")).focus()
    page.keyboard.press("ArrowRight")
    number = re.escape(f"{weights[3, 0]:#.4g}")
    expect(read).to_have_text(re.compile(rf"\(3\) × .* \(0\): {number}"))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("partner=0"))
    expect(last).to_have_text(f"{weights[3, 0]:#.4g}")
    inside.get_by_role("combobox", name=re.compile("^query")).select_option(index=4)
    expect(last).to_have_text(f"{weights[4, 0]:#.4g}")
    inside.get_by_role("img", name=re.compile("^q, ")).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    q = f"{float(t.pattern(SITE).q[0, HEAD, 4, 1]):#.4g}".replace("-", "−")
    expect(read).to_have_text(f"q: element 1: {q}")

    inside.get_by_text("Why this score?").click()
    for side in ("query", "key"):
        words = inside.locator(".hs-why-lists .hs-heading", has_text=f"into the {side}")
        expect(words).to_contain_text(f"{float(scores[4, 0]):#.4g}".lstrip("-"))
    expect(inside.locator(".hs-why-row").first).to_be_visible()
    go_to_head(page, SITE, "mean")
    expect(inside).to_contain_text("choose a head in place of the mean")
    assert page.evaluate("window.bad === undefined")
