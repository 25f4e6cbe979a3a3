"""One pair of tokens and the stages of a head, in a browser without Streamlit."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from models.run import load, trace
from tests.browser.test_explorer import DEFAULTS, SIZES
from tests.browser.views import Server, View
from viz.api.entries import TraceEntry
from viz.api.requests import parse_query
from viz.routes import ENDPOINTS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
TEXT = "<img src=x onerror=window.bad=1> the cat 🙂 مرحبا"
SITE, HEAD = 2, 3


class Traced:
    """A real trace, answered for by the app's own API code."""

    trace = "t1"

    def __init__(self) -> None:
        self.found = trace(load("minilm"), TEXT)
        self.entry = TraceEntry(self.found, lambda *_: "code")

    def answer(self, route: str, query: dict[str, str]) -> Any:
        endpoint = next(e for e in ENDPOINTS if e.name == route and e.applies(self.entry))
        asked = parse_query(list(query.items()), endpoint.required, endpoint.optional)
        return endpoint.answer(self.entry, self.trace, **asked)


@pytest.fixture(scope="module")
def source() -> Traced:
    return Traced()


@pytest.fixture
def draw(page: Page, server: Server, source: Traced) -> Callable[..., View]:
    def opened(form: str, size: str = "wide", **start: Any) -> View:
        page.set_viewport_size(SIZES[size])  # pyright: ignore[reportArgumentType]
        defaults = DEFAULTS | {"form": "matrix", "partner": None}
        chosen = {"layer": SITE, "head": HEAD, "form": form, **start}
        props = {"kind": "text", "defaults": defaults, "start": chosen, "revision": "r.1"}
        props |= {"page": "text", "path": ["/text"], "link": {}}
        view = View(page, server, source, props, "/text")
        view.is_painted()
        return view

    return opened


def test_a_pair_is_chosen_by_keyboard_and_ends_in_its_weight(draw, source):
    page = draw("qk", token=3, partner=5).page
    weights = source.found.weights(SITE, HEAD)
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
        expect(words).to_contain_text(f"{float(source.found.scores(SITE, HEAD)[3, 0]):#.4g}"[1:])
    expect(page.locator(".hs-why-row").first).to_be_visible()
    page.locator(".hs-elements").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    q = source.found.pattern(SITE).q[0, HEAD, 3, 1]
    number = f"{float(q):#.4g}".replace("-", "−")
    expect(page.locator(".hs-query-key .hs-read")).to_contain_text(f"Element 1: q {number}")
    assert page.evaluate("window.bad === undefined")


def test_stages_on_a_phone_read_every_number(draw, source):
    page = draw("stages", "phone", token=3).page
    panel = page.get_by_role("img", name=re.compile("^weights, "))
    panel.focus()
    page.keyboard.press("ArrowRight")
    weights = source.found.weights(SITE, HEAD)[3]
    number = re.escape(f"{weights[0]:#.4g}")
    expect(page.locator(".hs-stages .hs-read")).to_have_text(re.compile(rf"\(3\) × .*: {number}"))
    best = int(weights.argmax())
    expect(page.locator(".hs-stage-summary")).to_contain_text(f"({best})")
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]
