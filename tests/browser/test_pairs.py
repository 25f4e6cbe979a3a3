"""One pair of tokens and the stages of a head, in a browser without Streamlit."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from models.run import load, trace
from tests.browser.explorer_pages import Traced, open_text
from tests.browser.views import SIZES, Server, View
from viz.api.entries import TraceEntry

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
TEXT = "<img src=x onerror=window.bad=1> the cat 🙂 مرحبا"
SITE, HEAD = 2, 3


@pytest.fixture(scope="module")
def source() -> Traced:
    return Traced(TraceEntry(trace(load("minilm"), TEXT), lambda *_: "code"))


@pytest.fixture
def draw(page: Page, server: Server, source: Traced) -> Callable[..., View]:
    def opened(form: str, size: str = "wide", **start: Any) -> View:
        chosen = {"layer": SITE, "head": HEAD, "form": form, **start}
        view = open_text(page, server, source, size, chosen, form="matrix", partner=None)
        view.is_painted()
        return view

    return opened


def test_a_pair_is_chosen_by_keyboard_and_ends_in_its_weight(draw, source):
    page = draw("qk", token=3, partner=5).page
    weights = source.entry.trace.weights(SITE, HEAD)
    last = page.locator(".hs-step").last
    expect(last.locator(".hs-step-value")).to_have_text(f"{weights[3, 5]:#.4g}")
    page.locator(".hs-query-key .hs-column-key").click(position={"x": 5, "y": 5})
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("partner=0"))
    expect(last.locator(".hs-step-value")).to_have_text(f"{weights[3, 0]:#.4g}")
    page.get_by_text("Why this score?").click()
    for side in ("query", "key"):
        words = page.locator(".hs-why-lists .hs-heading", has_text=f"into the {side}")
        expect(words).to_contain_text(
            f"{float(source.entry.trace.scores(SITE, HEAD)[3, 0]):#.4g}"[1:]
        )
    expect(page.locator(".hs-why-row").first).to_be_visible()
    page.locator(".hs-elements").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    q = source.entry.trace.pattern(SITE).q[0, HEAD, 3, 1]
    number = f"{float(q):#.4g}".replace("-", "−")
    expect(page.locator(".hs-query-key .hs-read")).to_contain_text(f"Element 1: q {number}")
    assert page.evaluate("window.bad === undefined")


def test_stages_on_a_phone_read_every_number(draw, source):
    page = draw("stages", "phone", token=3).page
    panel = page.get_by_role("img", name=re.compile("^weights, "))
    panel.focus()
    page.keyboard.press("ArrowRight")
    weights = source.entry.trace.weights(SITE, HEAD)[3]
    number = re.escape(f"{weights[0]:#.4g}")
    expect(page.locator(".hs-stages .hs-read")).to_have_text(re.compile(rf"\(3\) × .*: {number}"))
    best = int(weights.argmax())
    expect(page.locator(".hs-stage-summary")).to_contain_text(f"({best})")
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]
